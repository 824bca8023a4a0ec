/* SPDX-License-Identifier: MIT */
/* The ccltap command: finds the verb and hands the rest of the line to it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "tools/message.h"
#include "tools/commands.h"

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "record", tap_record_main },
	{ "timeline", tap_timeline_main },
	{ "report", tap_report_main },
	{ "why", tap_why_main },
	{ "check", tap_check_main },
	{ "env", tap_env_main },
	{ "doctor", tap_doctor_main },
	{ "start", tap_start_main },
	{ "stop", tap_stop_main },
	{ "status", tap_status_main },
	{ "snapshot", tap_snapshot_main },
	{ "end", tap_end_main },
};

const char *argp_program_version = PACKAGE_STRING;

static const char doc[] =
	"Shows what the collective communication calls of an unchanged program do."
	"\v"
	"Verbs:\n"
	"  record     runs a program and records its calls\n"
	"  timeline   shows a recording call by call\n"
	"  report     sums a recording up\n"
	"  why        says what is wrong with the program\n"
	"  check      says how far a recording can be trusted\n"
	"  env        prints what it takes to record with the lttng command\n"
	"  doctor     looks for what will go wrong on this machine\n"
	"\n"
	"From another terminal, while a program is recorded:\n"
	"  status     lists the running recordings\n"
	"  start      resumes recording\n"
	"  stop       records no more until then\n"
	"  snapshot   writes what a flight recorder holds\n"
	"  end        completes a recording before its program ends, or what a killed one left\n"
	"\n"
	"\"ccltap VERB --help\" says more about a verb.";

struct line {
	const struct verb *verb;
	int first;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct line *line = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		/* One line for an error is enough: no "Try --help" after it. */
		state->err_stream = NULL;
		return 0;
	case ARGP_KEY_ARG:
		for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
			if (!strcmp(arg, verbs[i].name))
				line->verb = &verbs[i];
		if (!line->verb) {
			tap_message_write("no verb \"%s\": \"ccltap --help\" lists them",
					  arg);
			return EINVAL;
		}
		line->first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		tap_message_write("a verb is missing: \"ccltap --help\" lists them");
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.parser = parse,
	.args_doc = "VERB [ARG...]",
	.doc = doc,
};

int main(int argc, char **argv)
{
	struct line line = { 0 };

	argp_err_exit_status = TAP_EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &line))
		return TAP_EXIT_USAGE;
	return line.verb->run(argc - line.first, argv + line.first);
}
