/* SPDX-License-Identifier: MIT */
/*
 * `ccltap start|stop|status|snapshot|end`: control a running recording from another
 * terminal. Its supervisor does the work and reports what it did.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/vec.h"
#include "tools/command_line.h"
#include "tools/control_socket.h"
#include "tools/message.h"
#include "tools/record_output.h"
#include "tools/record_session.h"
#include "tools/remains.h"
#include "tools/commands.h"

/* Enough for a slow disk, but not endless: the supervisor may be stopped. */
#define PATIENCE_SECONDS 120

struct place {
	char name[TAP_LINK_PLACE_SIZE];
	struct tap_answer answer;
};

struct found {
	const char *wanted; /* a session, a file of metrics or a directory, NULL: any */
	char *real;	    /* what tap_output_resolve() makes of it */
	TAP_VEC(struct place) places;
	int error;
};

static bool is_wanted(const struct found *found, const struct tap_answer *answer)
{
	return !found->wanted || tap_link_is_named(answer, found->wanted, found->real);
}

static void look_at(const char *name, void *data)
{
	struct found *found = data;
	struct place place;

	snprintf(place.name, sizeof(place.name), "%s", name);
	/* A recording that has ended meanwhile is skipped. */
	if (tap_link_request(name, TAP_LINK_STATUS, PATIENCE_SECONDS, &place.answer,
			     NULL))
		return;
	if (!is_wanted(found, &place.answer))
		return;
	if (tap_vec_add(&found->places, place))
		found->error = ENOMEM;
}

/* Leaves one recording of several, if it is the only one that is meant. */
static void prefer(struct found *found,
		   bool (*is_meant)(const struct tap_answer *answer, const void *data),
		   const void *data)
{
	size_t i, at = 0, count = 0;

	for (i = 0; i < found->places.count; i++) {
		if (!is_meant(&found->places.items[i].answer, data))
			continue;
		at = i;
		count++;
	}
	if (count != 1)
		return;
	found->places.items[0] = found->places.items[at];
	found->places.count = 1;
}

static bool is_recorder(const struct tap_answer *answer, const void *address)
{
	return *answer->recorder && !strcmp(answer->recorder, address);
}

static bool is_below(const struct tap_answer *answer, const void *folder)
{
	return is_wanted(folder, answer);
}

/*
 * Of several recordings, the one that records the program which runs this is meant, else
 * the one that goes on below the current folder.
 */
static void prefer_nearest(struct found *found)
{
	struct found here = {.real = realpath(".", NULL), .wanted = "."};
	const char *recorder = getenv("CCLTAP_RECORDER");

	if (recorder)
		prefer(found, is_recorder, recorder);
	if (here.real && found->places.count > 1)
		prefer(found, is_below, &here);
	free(here.real);
}

static int check_found(const struct found *found, bool is_any)
{
	if (found->error) {
		tap_message_write("%s", strerror(found->error));
		return TAP_EXIT_FAILURE;
	}
	if (!found->places.count && found->wanted) {
		tap_message_write(
			"no recording \"%s\" is running for this user on this host: "
			"\"ccltap status\" lists those that do",
			found->wanted);
		return TAP_EXIT_FAILURE;
	}
	if (!found->places.count && !is_any) {
		tap_message_write("no recording is running for this user on this host");
		return TAP_EXIT_FAILURE;
	}
	if (found->places.count > 1 && !is_any) {
		tap_message_write("%zu recordings go on: say which, as \"ccltap status\" "
				  "calls it",
				  found->places.count);
		return TAP_EXIT_USAGE;
	}
	return 0;
}

static int show(const struct found *found)
{
	if (!found->places.count)
		puts("no recording is running for this user on this host");
	for (size_t i = 0; i < found->places.count; i++)
		fputs(found->places.items[i].answer.text, stdout);
	return fflush(stdout) ? TAP_EXIT_FAILURE : 0;
}

static int steer(const struct place *place, enum tap_link_verb verb)
{
	struct tap_answer answer;
	int ret = tap_link_request(place->name, verb, PATIENCE_SECONDS, &answer, NULL);

	if (ret) {
		tap_message_write("%s does not answer: %s", place->answer.session,
				  ret == -EPIPE ? "it has ended" : strerror(-ret));
		return TAP_EXIT_FAILURE;
	}
	if (answer.error == TAP_LINK_HUNG) {
		tap_message_write("the LTTng session daemon does not answer: look after "
				  "lttng-sessiond");
		return TAP_EXIT_FAILURE;
	}
	if (answer.error) {
		tap_message_write("%s", *answer.text ? answer.text : "it is refused");
		return TAP_EXIT_FAILURE;
	}
	fputs(answer.text, stdout);
	return fflush(stdout) ? TAP_EXIT_FAILURE : 0;
}

static unsigned cleaned;

static void report_cleaned(const char *session)
{
	cleaned++;
	printf("%s has ended; its supervisor was killed\n", session);
}

static void give_up(int signal_number)
{
	(void) signal_number;
	/* Without the hung daemon, the pending request returns. */
	if (tap_remains_end_hung())
		return;
	tap_message_write("the LTTng session daemon does not answer: look after "
			  "lttng-sessiond");
	_exit(TAP_EXIT_FAILURE);
}

/*
 * Cleans up after recordings whose supervisor was killed; returns whether there were any.
 */
static bool clean(void)
{
	int lock = tap_link_lock_daemon();

	if (lock < 0)
		return false;
	tap_session_set_watchdog(give_up);
	tap_remains_clean(report_cleaned);
	close(lock);
	return cleaned;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const char **wanted = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (*wanted) {
			tap_message_write("one recording at a time: \"%s\" is too much",
					  arg);
			return EINVAL;
		}
		*wanted = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int run(enum tap_link_verb verb, const char *doc, int argc, char **argv)
{
	const struct argp argp = {.parser = parse,
				  .args_doc = "[SESSION|FILE|DIR]",
				  .doc = doc};
	const bool is_status = verb == TAP_LINK_STATUS;
	struct found found = {0};
	bool was_cleaned = false;
	int ret;

	if (tap_command_line_parse(&argp, argc, argv, 0, &found.wanted))
		return TAP_EXIT_USAGE;
	if (found.wanted)
		found.real = tap_output_resolve(found.wanted);
	if (verb == TAP_LINK_END)
		was_cleaned = clean();
	tap_link_each(look_at, &found);
	if (!found.wanted && !is_status && found.places.count > 1)
		prefer_nearest(&found);
	ret = found.places.count || !was_cleaned ? check_found(&found, is_status) : 0;
	if (!ret && (found.places.count || is_status))
		ret = is_status ? show(&found) : steer(&found.places.items[0], verb);
	tap_vec_free(&found.places);
	free(found.real);
	return ret;
}

int tap_start_main(int argc, char **argv)
{
	return run(TAP_LINK_START,
		   "Goes on recording, or begins with it after "
		   "\"record --paused\".",
		   argc, argv);
}

int tap_stop_main(int argc, char **argv)
{
	return run(TAP_LINK_STOP,
		   "Records no more until \"ccltap start\"; the programs go "
		   "on.",
		   argc, argv);
}

int tap_status_main(int argc, char **argv)
{
	return run(TAP_LINK_STATUS,
		   "Lists the recordings that go on for this user on this "
		   "host.",
		   argc, argv);
}

int tap_snapshot_main(int argc, char **argv)
{
	return run(TAP_LINK_SNAPSHOT, "Writes what a flight recorder holds.", argc, argv);
}

int tap_end_main(int argc, char **argv)
{
	return run(TAP_LINK_END, "Completes a recording; the programs go on.", argc,
		   argv);
}
