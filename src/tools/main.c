/* SPDX-License-Identifier: MIT */
/* The ccltap command: finds the verb and hands the rest of the line to it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/manual.h"
#include "tools/message.h"
#include "tools/pager.h"

#define NAME_SIZE 64

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "record", tap_record_main },
	{ "timeline", tap_timeline_main },
	{ "view", tap_view_main },
	{ "report", tap_report_main },
	{ "why", tap_why_main },
	{ "check", tap_check_main },
	{ "audit", tap_audit_main },
	{ "collect", tap_collect_main },
	{ "export", tap_export_main },
	{ "query", tap_query_main },
	{ "env", tap_env_main },
	{ "doctor", tap_doctor_main },
	{ "start", tap_start_main },
	{ "stop", tap_stop_main },
	{ "status", tap_status_main },
	{ "top", tap_top_main },
	{ "snapshot", tap_snapshot_main },
	{ "end", tap_end_main },
	{ "help", tap_help_main },
};

const char *argp_program_version = PACKAGE_STRING;

static const char doc[] =
	"Shows what the collective communication calls of an unchanged program do."
	"\v"
	"Verbs:\n"
	"  record     runs a program and records its calls\n"
	"  timeline   shows a recording call by call\n"
	"  view       shows a recording in Perfetto, in a browser\n"
	"  report     sums a recording up\n"
	"  why        says what is wrong with the program\n"
	"  check      says how far a recording can be trusted\n"
	"  audit      says what the program does with its collective library\n"
	"  collect    brings the recordings of several hosts together\n"
	"  export     writes a recording as tables for engines\n"
	"  query      asks such tables\n"
	"  env        prints what it takes to record with the lttng command\n"
	"  doctor     looks for what will go wrong on this machine\n"
	"  help       shows the manual of a verb\n"
	"\n"
	"From another terminal, while a program is recorded:\n"
	"  status     lists the running recordings\n"
	"  top        shows what the ranks that are counted do\n"
	"  start      resumes recording\n"
	"  stop       records no more until then\n"
	"  snapshot   writes what a flight recorder holds\n"
	"  end        completes a recording before its program ends, or what a killed one left\n"
	"\n"
	"\"ccltap help VERB\" says more about a verb.";

struct line {
	const struct verb *verb;
	int first;
};

/* Returns NULL after a message when there is no such verb. */
static const struct verb *find_verb(const char *name)
{
	struct tap_meant meant = {.word = name};

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!strcmp(name, verbs[i].name))
			return &verbs[i];
		tap_meant_add(&meant, verbs[i].name);
	}
	if (meant.name)
		tap_message_write("no verb \"%s\": did you mean \"%s\"? \"ccltap --help\" "
				  "lists them", name, meant.name);
	else
		tap_message_write("no verb \"%s\": \"ccltap --help\" lists them", name);
	return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct line *line = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		line->verb = find_verb(arg);
		if (!line->verb)
			return EINVAL;
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

/* The verb sees its full name, which its usage and its errors begin with. */
static int run(const struct verb *verb, int argc, char **argv)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "ccltap %s", verb->name);
	argv[0] = name;
	return verb->run(argc, argv);
}

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	const struct verb **verb = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*verb) {
		tap_message_write("one verb at a time: \"%s\" is too much", arg);
		return EINVAL;
	}
	*verb = find_verb(arg);
	return *verb ? 0 : EINVAL;
}

int tap_help_main(int argc, char **argv)
{
	static const struct argp help = {
		.parser = parse_help,
		.args_doc = "[VERB]",
		.doc = "Shows the manual of a verb on a terminal, and else its options.",
	};
	const struct verb *verb = NULL;
	char own[] = "ccltap", option[] = "--help", page[NAME_SIZE];
	char *line[] = { own, option, NULL };

	if (tap_command_line_parse(&help, argc, argv, 0, &verb))
		return TAP_EXIT_USAGE;
	/* What there is to say about this verb is in its options. */
	if (verb && verb->run == tap_help_main)
		return run(verb, 2, line);
	snprintf(page, sizeof(page), "ccltap%s%s", verb ? "-" : "", verb ? verb->name : "");
	if (tap_manual_show(page))
		return 0;
	if (verb)
		return run(verb, 2, line);
	return tap_command_line_parse(&argp, 2, line, ARGP_IN_ORDER, NULL);
}

/* For completion in a shell. */
static int list_verbs(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		puts(verbs[i].name);
	return 0;
}

int main(int argc, char **argv)
{
	struct line line = { 0 };
	char name[] = "ccltap";
	int status;

	argp_err_exit_status = TAP_EXIT_USAGE;
	if (argc == 2 && !strcmp(argv[1], "--list-verbs"))
		return list_verbs();
	if (argc)
		argv[0] = name;
	if (tap_command_line_parse(&argp, argc, argv, ARGP_IN_ORDER, &line))
		return TAP_EXIT_USAGE;
	status = run(line.verb, argc - line.first, argv + line.first);
	tap_pager_end();
	return status;
}
