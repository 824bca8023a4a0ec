/* SPDX-License-Identifier: MIT */
/* Demangling: kernels' names as the source has them, and hostile names as they are. */
#include "join/base/demangle.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>

/* Whether it is this; NULL: is not demangled. */
static bool gives(const char *name, const char *expected)
{
	char *demangled = tap_demangle(name);
	const bool is_right = demangled && expected ? !strcmp(demangled, expected)
						    : demangled == expected;

	if (!is_right)
		printf("# %s\n", demangled ? demangled : "(none)");
	free(demangled);
	return is_right;
}

/* A function whose parameter is a pair of pairs of pairs ... of chars, `levels` deep. */
static char *nested(unsigned int levels)
{
	char *name = malloc(64 + levels * 24);
	unsigned int i;

	strcpy(name, "_Z1f1AIccE");
	for (i = 0; i < levels; i++)
		sprintf(name + strlen(name), "S_I%s%sE", i ? "S" : "S0_",
			i ? "1_S1_" : "S0_");
	return name;
}

int main(void)
{
	static char longest[4096];
	char *name;

	printf("1..4\n");
	ok(gives("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
		 "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
	   "a kernel of NCCL's has its name");
	ok(gives("ncclKernel_AllReduce", NULL) && gives("", NULL) && gives("_", NULL) &&
		   gives("_Z", NULL) && gives("_Zx", NULL),
	   "what is not mangled is not demangled");
	memset(longest, 'P', sizeof(longest) - 1);
	memcpy(longest, "_Z1f", 4);
	ok(gives(longest, NULL), "nor is a name that is too long");
	name = nested(40);
	ok(gives(name, NULL), "nor one that would grow without bound");
	free(name);
	return 0;
}
