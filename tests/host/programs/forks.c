/* SPDX-License-Identifier: MIT */
/* Forks at once after a call, with an allocator that is careless about forks. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "moment.h"

bool careless_is_free(void);
bool careless_is_idle(void);

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

static bool was_idle;

static void look(void)
{
	was_idle = careless_is_idle();
}

/* The handler of an allocator that takes its lock: who needs that then, waits for us. */
static void with_handler(void)
{
	pid_t child;

	pthread_atfork(look, NULL, NULL);
	call("parent");
	child = fork();
	if (!child)
		_exit(0);
	wait_for("child", child);
	printf("allocator %s\n", was_idle ? "idle" : "in use");
}

int main(int argc, char **argv)
{
	static const struct moment moments[] = {{"after-call", after_call},
						{"with-handler", with_handler}};

	return RUN_MOMENT(argc, argv);
}
