/* SPDX-License-Identifier: MIT */
/* Forks at once after a call, with an allocator that is careless about forks. */
#include <stdbool.h>
#include <stdlib.h>

#include "moment.h"

bool careless_is_free(void);

static void tell(const char *who)
{
	printf("%s: lock %s\n", who, careless_is_free() ? "free" : "taken");
}

static void after_call(void)
{
	pid_t child, grandchild;

	call("parent");
	child = fork();
	if (!child) {
		tell("child");
		call("child");
		grandchild = fork();
		if (!grandchild) {
			tell("grandchild");
			call("grandchild");
			exit(4);
		}
		wait_for("grandchild", grandchild);
		exit(3);
	}
	wait_for("child", child);
	call("parent");
}

int main(int argc, char **argv)
{
	static const struct moment moments[] = {{"after-call", after_call}};

	return RUN_MOMENT(argc, argv);
}
