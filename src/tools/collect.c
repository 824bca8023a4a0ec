/* SPDX-License-Identifier: MIT */
/*
 * `ccltap collect`: brings the recordings of several hosts, or the tables that were
 * exported there, into one folder, and says whether they are all of a job.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/child.h"
#include "tools/collected.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/fetching.h"
#include "tools/folders.h"
#include "tools/hosts.h"
#include "tools/message.h"

#define AT_ONCE 8
#define AT_ONCE_MAX 256

enum { KEY_SLURM = 256, KEY_HOSTS, KEY_NO_CHECK, KEY_RSH };

struct request {
	const char *output, *source, *rsh;
	unsigned at_once;
	bool has_list; /* of hosts: an argument is the source then */
	bool is_unchecked;
	struct tap_hosts hosts;
};

static const struct argp_option options[] = {
	{"output", 'o', "DIR", 0, "bring them into DIR, which may have a part of them",
	 0},
	{"source", 's', "PATH", 0,
	 "the folder on each host; as seen from the current folder [ccltap-trace]", 0},
	{"hosts", KEY_HOSTS, "FILE", 0, "the hosts that FILE has, one in a line", 0},
	{"slurm", KEY_SLURM, NULL, 0, "the hosts of the Slurm job that this runs in", 0},
	{"jobs", 'j', "NUMBER", 0, "copy from so many hosts at once [8]", 0},
	{"rsh", KEY_RSH, "COMMAND", 0, "instead of ssh, as rsync's", 0},
	{"no-check", KEY_NO_CHECK, NULL, 0,
	 "do not read what was collected to see whether it is complete", 0},
	{0},
};

static error_t take_argument(struct request *request, const char *arg)
{
	if (!request->has_list)
		return tap_hosts_add(&request->hosts, arg) ? EINVAL : 0;
	if (request->source) {
		tap_message_write(
			"\"%s\" is too much: the hosts are those of the list, and the "
			"folder there is %s",
			arg, request->source);
		return EINVAL;
	}
	request->source = arg;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;
	unsigned long number;
	char *end;

	switch (key) {
	case 'o':
		request->output = arg;
		return 0;
	case 's':
		request->source = arg;
		return 0;
	case 'j':
		number = strtoul(arg, &end, 10);
		if (*end || *arg < '0' || *arg > '9' || !number || number > AT_ONCE_MAX) {
			tap_message_write(
				"\"%s\" hosts at once: give a number from 1 to %d", arg,
				AT_ONCE_MAX);
			return EINVAL;
		}
		request->at_once = (unsigned) number;
		return 0;
	case KEY_RSH:
		request->rsh = arg;
		return 0;
	case KEY_NO_CHECK:
		request->is_unchecked = true;
		return 0;
	case KEY_HOSTS:
		request->has_list = true;
		return tap_hosts_add_file(&request->hosts, arg) ? EINVAL : 0;
	case KEY_SLURM:
		request->has_list = true;
		return tap_hosts_add_slurm(&request->hosts) ? EINVAL : 0;
	case ARGP_KEY_ARG:
		return take_argument(request, arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc =
		"-o DIR HOST[:PATH]...\n-o DIR --slurm [PATH]\n-o DIR --hosts FILE [PATH]",
	.doc = "Copies what \"ccltap record\" or \"ccltap export\" wrote on each HOST into DIR, "
	       "by rsync and ssh, and says whether it is complete."
	       "\v"
	       "What is here already is not copied again. The exit status is 1 when a host "
	       "failed or something is missing; what was copied stays.",
};

/* Returns 0, or an exit status after a message. */
static int check_request(const struct request *request)
{
	if (!request->output || !*request->output) {
		tap_message_write("where to? Give a folder with -o");
		return TAP_EXIT_USAGE;
	}
	if (!request->hosts.names.count) {
		tap_message_write("no hosts: name them, or give --hosts FILE or --slurm");
		return TAP_EXIT_USAGE;
	}
	return 0;
}

/* A job's folder has one path on all hosts, which is relative to where its user is. */
static char *find_source(const char *source)
{
	char here[PATH_MAX], *path;

	if (!source)
		source = "ccltap-trace";
	if (*source == '/')
		return strdup(source);
	if (!getcwd(here, sizeof(here)) || asprintf(&path, "%s/%s", here, source) < 0)
		return NULL;
	return path;
}

static int collect(const struct request *request, const char *source)
{
	struct tap_fetching fetching = {
		.hosts = &request->hosts,
		.source = source,
		.to = request->output,
		.rsh = request->rsh,
		.at_once = request->at_once,
	};
	const size_t all = request->hosts.names.count;
	int ret = tap_fetching_run(&fetching), checked;

	if (ret)
		return ret;
	printf("collected %zu of %zu host%s into %s: %" PRIu64 " file%s, %" PRIu64
	       " MiB\n",
	       all - fetching.failed, all, all == 1 ? "" : "s", request->output,
	       fetching.files, fetching.files == 1 ? "" : "s", fetching.bytes >> 20);
	fflush(stdout);
	if (fetching.failed == all)
		return TAP_EXIT_FAILURE;
	checked = tap_collected_check(request->output, !request->is_unchecked);
	return fetching.failed || checked || fflush(stdout) ? TAP_EXIT_FAILURE : 0;
}

int tap_collect_main(int argc, char **argv)
{
	struct request request = {.at_once = AT_ONCE};
	char *source = NULL;
	int ret = TAP_EXIT_USAGE, made;

	if (!tap_command_line_parse(&argp, argc, argv, 0, &request))
		ret = check_request(&request);
	if (!ret) {
		tap_child_fill_standard();
		source = find_source(request.source);
		made = source ? tap_folders_make(request.output, 0700, NULL) : -errno;
		if (made) {
			tap_message_write("cannot write %s: %s", request.output,
					  strerror(-made));
			ret = TAP_EXIT_USAGE;
		}
	}
	if (!ret)
		ret = collect(&request, source);
	tap_hosts_free(&request.hosts);
	free(source);
	return ret;
}
