/* SPDX-License-Identifier: MIT */
/* The release that is imitated, from the environment. */
#include "release.h"

#include "settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT "2.28.9"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int release;

static void choose(void)
{
	const char *text = mini_text(SET_MININCCL_RELEASE);
	int minor = 0;
	int patch = 0;
	char rest;

	if (!text)
		text = DEFAULT;
	if (sscanf(text, "2.%d.%d%c", &minor, &patch, &rest) != 2 || minor < 18 ||
	    minor > 32 || patch < 0 || patch > 99) {
		fprintf(stderr,
			"mini-NCCL: MININCCL_RELEASE=%s: not from 2.18.0 to 2.32.99\n",
			text);
		exit(2);
	}
	release = 20000 + minor * 100 + patch;
}

int mini_release(void)
{
	pthread_once(&once, choose);
	return release;
}
