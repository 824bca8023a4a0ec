/* SPDX-License-Identifier: MIT */
/*
 * `ccltap record`: runs a program with the tracer loaded and LTTng recording, and is
 * otherwise not there.  This file is the order of events; each part has its own.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/compiler.h"
#include "tools/env.h"
#include "tools/message.h"
#include "tools/record_buffers.h"
#include "tools/record_child.h"
#include "tools/record_notes.h"
#include "tools/record_output.h"
#include "tools/record_session.h"
#include "tools/record_summary.h"
#include "tools/stacks.h"
#include "tools/verbs.h"

/* Some two seconds' reading; the user's shell waits for it. */
#define READ_LIMIT_BYTES (256ull << 20)

/* Below this a file system is taken for full: LTTng writes whole sub-buffers. */
#define FULL_DISK_BYTES (4ull << 20)

struct request {
	const char *folder;
	bool overwrite;
	uint64_t buffer_bytes;
	bool nvtx;
	const char *depth; /* of stacks, NULL: as the environment says */
	char **program;
};

struct recording {
	struct tap_output output;
	struct tap_child child;
	struct tap_child_end end;
	char *preload;
	struct tap_notes notes;
	char *nvtx; /* NULL: NVTX_INJECTION64_PATH is somebody else's */
	/* The session's name, and the job's unless the environment names one. */
	char name[NAME_MAX];
	const char *job;
	/* What LTTng said when the session was to be ended. */
	int session_error;
	uint64_t discarded;
	bool has_hole;
};

/* How this process ends if the daemon hangs; read by the watchdog's handler. */
static struct tap_child_end watchdog_end = {
	.code = CLD_EXITED,
	.status = TAP_EXIT_FAILURE,
};

static void give_up(int signal_number)
{
	static const char text[] =
		"ccltap: the LTTng session daemon does not answer, and the recording is "
		"not complete: look after lttng-sessiond\n";

	(void)signal_number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		errno = 0;
	tap_child_end_alike(&watchdog_end);
}

enum { KEY_STACKS = 256 };

static const struct argp_option options[] = {
	{ "output", 'o', "DIR", 0,
	  "record into DIR/<host> [ccltap-trace]", 0 },
	{ "overwrite", 'w', NULL, 0,
	  "replace the recording that DIR/<host> has", 0 },
	{ "buffer-size", 'b', "SIZE", 0,
	  "buffer of each processor for the frequent calls, such as 64M "
	  "[32M, or less where memory is short]", 0 },
	{ "nvtx", 'n', NULL, 0,
	  "record what the program itself tells NVTX, its steps for instance", 0 },
	TAP_STACKS_RECORD_OPTION(KEY_STACKS),
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->err_stream = NULL;
		return 0;
	case 'o':
		if (!*arg) {
			tap_message_write("the directory's name is empty: give one "
					  "with -o");
			return EINVAL;
		}
		request->folder = arg;
		return 0;
	case 'w':
		request->overwrite = true;
		return 0;
	case 'b':
		if (!tap_buffers_parse(arg, &request->buffer_bytes))
			return 0;
		tap_message_write("buffer size \"%s\": give a number of bytes from 64K "
				  "to 16G, such as 64M", arg);
		return EINVAL;
	case 'n':
		request->nvtx = true;
		return 0;
	case KEY_STACKS:
		request->depth = tap_stacks_depth(arg);
		return request->depth ? 0 : EINVAL;
	case ARGP_KEY_ARG:
		request->program = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		tap_message_write("no program to record: "
				  "ccltap record [-o DIR] -- PROGRAM [ARG...]");
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[--] PROGRAM [ARG...]",
	.doc = "Runs PROGRAM and records the collective communication calls of all its "
	       "processes on this host. Ends as PROGRAM ends.",
};

/* Unique on this host, and so that the user finds it in `lttng list`. */
static void name_session(struct recording *recording)
{
	char host[128] = "";
	const char *job = getenv("CCLTAP_JOB");

	if (gethostname(host, sizeof(host) - 1) < 0)
		host[0] = '\0';
	snprintf(recording->name, sizeof(recording->name), "ccltap-%s-%d-%jd", host,
		 getpid(), (intmax_t)time(NULL));
	recording->job = job && *job ? job : recording->name;
}

static int report_missing_program(const char *program, int error)
{
	if (error == ENOENT) {
		tap_message_write("%s: no such program: check its name, or PATH",
				  program);
		return 127;
	}
	tap_message_write("%s cannot be run: %s", program, strerror(error));
	return 126;
}

/* Everything up to the running program; nothing is left of it where it fails. */
static int prepare(struct recording *recording, const struct request *request)
{
	struct tap_buffers buffers;
	int ret;

	ret = tap_session_start_daemon();
	if (ret)
		return ret;
	ret = tap_buffers_fit(request->buffer_bytes, &buffers);
	if (ret)
		return ret;
	ret = tap_output_make(&recording->output, request->folder, request->overwrite,
			      recording->name);
	if (ret)
		return ret;
	ret = tap_session_begin(recording->name, recording->output.absolute, &buffers);
	if (!ret)
		return 0;
	tap_message_write("LTTng cannot record into %s: %s; \"lttng-sessiond --verbose\" "
			  "tells why", recording->output.shown, tap_session_error(ret));
	tap_output_discard(&recording->output);
	tap_output_close(&recording->output);
	return -EIO;
}

static void write_texts(FILE *out, const char *before, const char *between,
			const struct tap_summary_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		fprintf(out, "%s%s", i ? between : before, texts->texts[i]);
	if (texts->left_out)
		fprintf(out, "%sand others", between);
}

static void write_counts(FILE *out, const struct tap_summary *summary)
{
	const char *before = " (";

	fprintf(out, "%zu process%s, %" PRIu64 " event%s", summary->processes,
		summary->processes == 1 ? "" : "es", summary->events,
		summary->events == 1 ? "" : "s");
	for (size_t i = 0; i < summary->layer_count; i++) {
		if (!summary->layers[i].events)
			continue;
		fprintf(out, "%s%s %" PRIu64, before, summary->layers[i].name,
			summary->layers[i].events);
		before = ", ";
	}
	if (*before == ',')
		fputc(')', out);
	if (summary->foreign_processes)
		fprintf(out, ", and %zu process%s of other jobs",
			summary->foreign_processes,
			summary->foreign_processes == 1 ? "" : "es");
}

static bool is_disk_full(const char *path)
{
	struct statvfs fs;

	return !statvfs(path, &fs) &&
	       (uint64_t)fs.f_bavail * fs.f_frsize < FULL_DISK_BYTES;
}

/* What went wrong around the program: the cause, and not what follows from it. */
static void write_failure(FILE *out, const struct recording *recording, int read_error)
{
	if (access(recording->output.absolute, F_OK) < 0)
		fputs("; the directory was removed while the program ran, record again",
		      out);
	else if (is_disk_full(recording->output.absolute))
		fputs("; not complete: the disk is full, record elsewhere with -o", out);
	else if (recording->session_error)
		fprintf(out, "; not complete: the LTTng session daemon failed (%s), "
			"start it anew and record again",
			tap_session_error(recording->session_error));
	else if (recording->has_hole)
		fputs("; not complete: a process was killed while it wrote an event, and "
		      "what was recorded after that on the same processor is lost", out);
	else if (read_error)
		fputs("; its files are cut short or damaged (a process that was killed "
		      "while it was being attached, or the disk)", out);
}

static bool has_calls(const struct tap_summary *summary)
{
	for (size_t i = 0; i < summary->layer_count; i++)
		if (strcmp(summary->layers[i].name, "tap") && summary->layers[i].events)
			return true;
	return false;
}

/* What is lost, or could not be recorded, may have been calls. */
static bool is_nothing_attached(const struct recording *recording,
				const struct tap_summary *summary, int read_error,
				size_t unrecorded)
{
	return !summary->attached.count && !has_calls(summary) &&
	       (summary->was_read || read_error == -ENOENT) && !unrecorded &&
	       !recording->has_hole && !recording->session_error;
}

static void write_body(FILE *out, const struct recording *recording,
		       const struct tap_summary *summary, int read_error)
{
	char *why_unrecorded;
	size_t unrecorded = tap_notes_read(&recording->notes, &why_unrecorded);
	uint64_t discarded = recording->discarded > summary->discarded ?
		recording->discarded : summary->discarded;

	if (summary->was_read) {
		fprintf(out, "trace in %s: ", recording->output.shown);
		write_counts(out, summary);
	} else if (read_error == -ENOENT) {
		fprintf(out, "nothing was traced in %s", recording->output.shown);
	} else if (read_error) {
		fprintf(out, "the trace in %s cannot be read", recording->output.shown);
	} else {
		fprintf(out,
			"trace in %s: %" PRIu64 " MiB, \"ccltap report %s\" sums it up",
			recording->output.shown, summary->bytes >> 20,
			recording->output.shown);
	}
	if (summary->was_read || !read_error || discarded)
		fprintf(out, ", %" PRIu64 " discarded", discarded);
	if (discarded)
		fputs(" (the buffers were full: give more with --buffer-size)", out);
	write_texts(out, "; attached: ", ", ", &summary->attached);
	if (is_nothing_attached(recording, summary, read_error, unrecorded))
		fprintf(out, "; nothing was attached: no process called a traced library "
			"(libnccl.so.2, librccl.so.1), or it is linked statically and %s, "
			"or the program is setuid or clears LD_PRELOAD",
			recording->nvtx ? "has no NVTX" :
			"NVTX_INJECTION64_PATH names another tool");
	write_texts(out, "; problem: ", "; problem: ", &summary->problems);
	if (unrecorded)
		fprintf(out, "; %zu process%s could not be recorded: %s", unrecorded,
			unrecorded == 1 ? "" : "es",
			why_unrecorded ? why_unrecorded : "");
	free(why_unrecorded);
	/* No trace is not an error of reading: LTTng writes one at the first event. */
	write_failure(out, recording, read_error == -ENOENT ? 0 : read_error);
}

static void write_closing_line(const struct recording *recording)
{
	struct tap_summary summary;
	char *line = NULL;
	size_t size;
	FILE *out;
	int error;

	error = tap_summary_read(&summary, recording->output.absolute, recording->job,
				 READ_LIMIT_BYTES);
	out = open_memstream(&line, &size);
	if (out) {
		write_body(out, recording, &summary, error);
		if (fclose(out) != EOF)
			tap_message_write("%s", line);
	}
	free(line);
	tap_summary_free(&summary);
}

static int record(struct recording *recording, const struct request *request)
{
	const struct tap_child_variable variables[] = {
		{ "LD_PRELOAD", recording->preload, false },
		{ "CCLTAP_JOB", recording->job, true },
		{ "CCLTAP_RECORDER", recording->notes.address, false },
		{ "NVTX_INJECTION64_PATH", recording->nvtx, false },
		{ "CCLTAP_NVTX", request->nvtx ? "1" : NULL, false },
		{ TAP_STACKS_VARIABLE, request->depth, false },
	};
	int ret;

	ret = tap_child_fork(&recording->child, request->program, variables,
			     ARRAY_SIZE(variables));
	if (ret) {
		tap_message_write("cannot fork: %s", strerror(-ret));
		return TAP_EXIT_FAILURE;
	}
	tap_session_set_watchdog(give_up);
	ret = prepare(recording, request);
	if (ret) {
		tap_child_abandon(&recording->child);
		return ret == -EEXIST ? TAP_EXIT_USAGE : TAP_EXIT_FAILURE;
	}
	tap_child_start(&recording->child);
	tap_child_wait(&recording->child, &recording->end);
	watchdog_end = recording->end;
	recording->session_error = tap_session_end(recording->name,
						   &recording->discarded,
						   &recording->has_hole);
	if (recording->end.exec_errno) {
		report_missing_program(request->program[0], recording->end.exec_errno);
		tap_output_discard(&recording->output);
	} else {
		write_closing_line(recording);
	}
	tap_output_close(&recording->output);
	tap_notes_close(&recording->notes);
	free(recording->preload);
	free(recording->nvtx);
	tap_child_end_alike(&recording->end);
}

int tap_record_main(int argc, char **argv)
{
	struct request request = { .folder = "ccltap-trace" };
	struct recording recording = { 0 };
	char name[] = "ccltap record", path[PATH_MAX];
	int ret;

	argv[0] = name;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &request))
		return TAP_EXIT_USAGE;
	ret = tap_child_find_program(request.program[0], path, sizeof(path));
	if (ret)
		return report_missing_program(request.program[0], -ret);
	if (tap_env_compose_preload(getenv("LD_PRELOAD"), path, &recording.preload))
		return TAP_EXIT_FAILURE;
	if (tap_env_compose_nvtx(getenv("NVTX_INJECTION64_PATH"), &recording.nvtx)) {
		free(recording.preload);
		return TAP_EXIT_FAILURE;
	}
	name_session(&recording);
	tap_notes_open(&recording.notes, recording.name);
	ret = record(&recording, &request);
	tap_notes_close(&recording.notes);
	free(recording.preload);
	free(recording.nvtx);
	return ret;
}
