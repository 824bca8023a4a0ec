/* SPDX-License-Identifier: MIT */
/*
 * What a child that reads traces says: all of it when it ends well, and not the last
 * words of babeltrace2, which takes long to die where a core is written or a shadow
 * unmapped.
 */
#include "tools/child.h"
#include "unit/tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct tap_watch *watch;
static char heard[256];

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		abort();
}

static void rest(long ms)
{
	const struct timespec time = {.tv_sec = ms / 1000,
				      .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* Runs it with standard error in `heard`. */
static enum tap_child_end hear(int (*run)(void *), bool (*must_end)(void),
			       int *ret_status)
{
	const struct tap_child_work work = {.run = run,
					    .watch = watch,
					    .must_end = must_end};
	const int kept = dup(STDERR_FILENO);
	FILE *file = tmpfile();
	size_t length;
	int end;

	if (kept < 0 || !file)
		abort();
	atomic_store(&watch->stage, TAP_STAGE_OWN);
	dup2(fileno(file), STDERR_FILENO);
	end = tap_child_run(&work, ret_status);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(file);
	length = fread(heard, 1, sizeof(heard) - 1, file);
	heard[length] = 0;
	fclose(file);
	return (enum tap_child_end) end;
}

static int die_slowly(void *unused)
{
	(void) unused;
	tap_watch_enter(watch, TAP_STAGE_READ);
	rest(400);
	say("last words\n");
	rest(1200);
	abort();
}

static bool last_words_are_dropped(void)
{
	bool is_passed = true;
	int status = 0;

	CHECK(hear(die_slowly, NULL, &status) == TAP_CHILD_DIED);
	CHECK(status == SIGABRT);
	CHECK(!*heard);
	return is_passed;
}

static int go_on(void *unused)
{
	(void) unused;
	say("ours\n");
	tap_watch_enter(watch, TAP_STAGE_READ);
	say("babeltrace2's\n");
	tap_watch_enter(watch, TAP_STAGE_OWN);
	return 3;
}

static bool words_of_who_lives_are_heard(void)
{
	bool is_passed = true;
	int status = 0;

	CHECK(hear(go_on, NULL, &status) == TAP_CHILD_DONE);
	CHECK(status == 3);
	CHECK(!strcmp(heard, "ours\nbabeltrace2's\n"));
	return is_passed;
}

/* Waits until the parent has shown the warning, a minute at most. */
static int wait_to_be_heard(void *unused)
{
	int i;

	(void) unused;
	tap_watch_enter(watch, TAP_STAGE_READ);
	say("a warning\n");
	for (i = 0; i < 600 && !watch->port; i++) {
		tap_watch_enter(watch, TAP_STAGE_READ);
		rest(100);
	}
	say("last words\n");
	rest(1200);
	abort();
}

/* The child sees in `port` that something is shown. */
static bool note_what_is_shown(void)
{
	char text[64];
	const ssize_t length = pread(STDERR_FILENO, text, sizeof(text), 0);

	if (length > 0)
		watch->port = 1;
	return false;
}

static bool a_warning_is_shown_meanwhile(void)
{
	bool is_passed = true;
	int status = 0;

	CHECK(hear(wait_to_be_heard, note_what_is_shown, &status) == TAP_CHILD_DIED);
	CHECK(!strcmp(heard, "a warning\n"));
	return is_passed;
}

int main(void)
{
	watch = mmap(NULL, sizeof(*watch), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (watch == MAP_FAILED)
		abort();
	report("a child that dies has its last words dropped, however long it takes",
	       last_words_are_dropped);
	report("a child that ends has all of its words shown",
	       words_of_who_lives_are_heard);
	report("a warning of a child that goes on is shown, and its last words are not",
	       a_warning_is_shown_meanwhile);
	return tap_done();
}
