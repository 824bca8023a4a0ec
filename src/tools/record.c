/* SPDX-License-Identifier: MIT */
/*
 * `ccltap record`: runs a program with the tracer loaded and LTTng recording, and
 * otherwise stays out of its way. This file has the order of events; each step has a
 * module of its own.
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
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/ranks.h"
#include "tools/answer.h"
#include "tools/command_line.h"
#include "tools/env.h"
#include "tools/job.h"
#include "tools/control_socket.h"
#include "tools/message.h"
#include "tools/metrics_http.h"
#include "tools/program.h"
#include "tools/record_buffers.h"
#include "tools/record_output.h"
#include "tools/record_session.h"
#include "tools/record_summary.h"
#include "tools/relayd.h"
#include "tools/stacks.h"
#include "tools/supervisor.h"
#include "tools/user_folder.h"
#include "tools/why_beside.h"
#include "tools/commands.h"

#define LAYER_TEXT(name) #name,
static const char *const layers[] = { TAP_SESSION_LAYERS(LAYER_TEXT) };
#define LAYER_NAMES "nccl, nvtx, verbs, net, cuda, gpu"

/* Each chunk carries a description of all events, some 300 KiB. */
#define LEAST_DISK_BYTES (UINT64_C(8) << 20)
#define MOST_DISK_BYTES (UINT64_C(1) << 50)
#define MOST_MEMORY_BYTES (UINT64_C(16) << 30)

/* Takes some two seconds to read, for which the user's shell waits. */
#define READ_LIMIT_BYTES (256ull << 20)

/* As much is read once more, in less than a second, to say what is wrong. */
#define WHY_LIMIT_BYTES (32ull << 20)

/* Below this a file system counts as full: LTTng writes whole sub-buffers. */
#define FULL_DISK_BYTES (4ull << 20)

struct request {
	struct tap_plan plan;
	struct tap_relayd relayd;
	bool nvtx;
	const char *depth; /* of stacks, NULL: from the environment */
	const char *gpu; /* of CUPTI, NULL: from the environment */
	const char *ranks; /* NULL: all */
	bool is_none; /* of the layers is recorded */
	bool has_metrics;
	const char *metrics; /* as it is given, NULL: the default */
	const char *stuck_after; /* in seconds, NULL: stuck calls are not reported */
	bool has_min_interval;
	char **program;
};

struct recording {
	char *path, *shown; /* DIR/<host> */
	struct tap_program program;
	struct tap_program_end end;
	char *preload;
	char *nvtx; /* NULL: NVTX_INJECTION64_PATH names another library */
	/* Name of the session, and of the job unless the environment sets one. */
	char name[NAME_MAX];
	int link;
	/* What the supervisor answered to JOIN and to DONE. */
	struct tap_answer joined, outcome;
};

/* How often to retry while a recording in the same place is ending. */
#define TRIES 3000
#define PAUSE_MS 10
/*
 * The supervisor may have to wait for another one that starts or ends the session daemon,
 * and sends the daemon many requests.
 */
#define JOIN_SECONDS 300
/* A disk may take this long for what is in the buffers. */
#define LEAVE_SECONDS 3600

enum {
	KEY_STACKS = 256,
	KEY_FLIGHT,
	KEY_GPU,
	KEY_INTERVAL,
	KEY_LAYERS,
	KEY_MAX_SIZE,
	KEY_METRICS,
	KEY_METRICS_LISTEN,
	KEY_PAUSED,
	KEY_RANKS,
	KEY_REFUSE,
	KEY_RELAY,
	KEY_SESSION,
	KEY_STUCK,
};

static const struct argp_option options[] = {
	{ "output", 'o', "DIR", 0,
	  "record into DIR/<host> [ccltap-trace]", 0 },
	{ "overwrite", 'w', NULL, 0,
	  "replace the recording that DIR/<host> has, instead of moving it to DIR.old", 0 },
	{ "no-overwrite", KEY_REFUSE, NULL, 0,
	  "refuse a DIR/<host> that has a recording", 0 },
	{ "buffer-size", 'b', "SIZE", 0,
	  "buffer of each processor for the frequent calls, such as 64M "
	  "[32M, or less where memory is short]", 0 },
	{ "nvtx", 'n', NULL, 0,
	  "record what the program itself reports to NVTX, its steps for instance", 0 },
	TAP_STACKS_RECORD_OPTION(KEY_STACKS),
	TAP_ENV_GPU_OPTION(KEY_GPU),
	{ "layers", KEY_LAYERS, "LIST", 0,
	  "record these alone: " LAYER_NAMES "; or none, with --metrics [all]", 0 },
	{ "ranks", KEY_RANKS, "LIST", 0, "record these ranks alone, such as 0,8-15", 0 },
	{ "max-size", KEY_MAX_SIZE, "SIZE", 0,
	  "keep about SIZE on disk, the newest, such as 2G", 0 },
	{ "metrics", KEY_METRICS, "FILE", OPTION_ARG_OPTIONAL,
	  "count calls, for Prometheus, in FILE [ccltap-<host>.prom]", 0 },
	{ "metrics-listen", KEY_METRICS_LISTEN, "[ADDR:]PORT", 0,
	  "and serve the counters to Prometheus there, over HTTP [127.0.0.1]", 0 },
	{ "relay", KEY_RELAY, "HOST[:PORT]", 0,
	  "send the trace to the lttng-relayd of this host, instead of to a disk", 0 },
	{ "paused", KEY_PAUSED, NULL, 0, "record nothing until \"ccltap start\"", 0 },
	{ "session", KEY_SESSION, "NAME", 0, "call LTTng's session NAME", 0 },
	{ "flight-recorder", KEY_FLIGHT, "SIZE", OPTION_ARG_OPTIONAL,
	  "keep the newest in SIZE of memory, and write it when something happens", 0 },
	{ "stuck-after", KEY_STUCK, "SECONDS", 0,
	  "how long a call may take until the flight recorder is written [60]", 0 },
	{ "min-interval", KEY_INTERVAL, "SECONDS", 0,
	  "between what a flight recorder writes unasked [60]", 0 },
	{ 0 },
};

static int parse_layers(const char *text, unsigned *ret_layers)
{
	size_t length;

	*ret_layers = 0;
	for (;; text += length + 1) {
		size_t i;

		length = strcspn(text, ",");
		for (i = 0; i < TAP_NR_LAYERS; i++)
			if (strlen(layers[i]) == length && !strncmp(layers[i], text, length))
				break;
		if (i == TAP_NR_LAYERS)
			return -EINVAL;
		*ret_layers |= 1u << i;
		if (!text[length])
			return 0;
	}
}

static bool is_session_name(const char *text)
{
	return *text && strlen(text) < 64 &&
	       !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_.-")];
}

static bool parse_seconds(const char *text, unsigned *ret_seconds)
{
	unsigned long seconds;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	seconds = strtoul(text, &end, 10);
	*ret_seconds = (unsigned)seconds;
	return !*end && seconds < 1000000;
}

static error_t parse_control(int key, const char *arg, struct request *request)
{
	struct tap_plan *plan = &request->plan;
	unsigned seconds;

	switch (key) {
	case KEY_LAYERS:
		request->is_none = !strcmp(arg, "none");
		if (request->is_none || !parse_layers(arg, &plan->lttng.layers))
			return 0;
		tap_message_write("layers \"%s\": give some of " LAYER_NAMES
				  ", with commas between, or none", arg);
		return EINVAL;
	case KEY_RANKS:
		request->ranks = arg;
		if (tap_ranks_have(arg, 0) >= 0)
			return 0;
		tap_message_write("ranks \"%s\": give numbers and ranges, such as 0,8-15",
				  arg);
		return EINVAL;
	case KEY_MAX_SIZE:
		if (!tap_buffers_parse(arg, &plan->max_bytes, MOST_DISK_BYTES) &&
		    plan->max_bytes >= LEAST_DISK_BYTES)
			return 0;
		tap_message_write("size \"%s\": give a number of bytes from 8M to 1024T, "
				  "such as 2G", arg);
		return EINVAL;
	case KEY_METRICS:
		request->has_metrics = true;
		request->metrics = arg;
		if (!arg || *arg)
			return 0;
		tap_message_write("the file's name is empty: give one with --metrics=FILE");
		return EINVAL;
	case KEY_METRICS_LISTEN:
		request->has_metrics = true;
		plan->metrics_listen = arg;
		return tap_metrics_http_check(arg) ? EINVAL : 0;
	case KEY_RELAY:
		plan->relayd = &request->relayd;
		if (!tap_relayd_parse(arg, &request->relayd))
			return 0;
		tap_message_write("relay daemon \"%s\": give the name of its host, or with "
				  "a port HOST:PORT", arg);
		return EINVAL;
	case KEY_PAUSED:
		plan->lttng.is_paused = true;
		return 0;
	case KEY_SESSION:
		plan->session = arg;
		if (is_session_name(arg))
			return 0;
		tap_message_write("session name \"%s\": give up to 63 letters, digits and "
				  "any of \"_.-\"", arg);
		return EINVAL;
	case KEY_FLIGHT:
		plan->lttng.is_flight = true;
		if (!arg || !tap_buffers_parse(arg, &plan->flight_bytes, MOST_MEMORY_BYTES))
			return 0;
		tap_message_write("size \"%s\": give a number of bytes from 64K to 16G, "
				  "such as 256M", arg);
		return EINVAL;
	case KEY_STUCK:
		request->stuck_after = arg;
		if (parse_seconds(arg, &seconds))
			return 0;
		break;
	case KEY_INTERVAL:
		request->has_min_interval = true;
		if (parse_seconds(arg, &plan->min_interval_s))
			return 0;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	tap_message_write("\"%s\": give a whole number of seconds", arg);
	return EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case 'o':
		if (!*arg) {
			tap_message_write("the directory's name is empty: give one "
					  "with -o");
			return EINVAL;
		}
		request->plan.folder = arg;
		return 0;
	case 'w':
		request->plan.older = TAP_OUTPUT_REPLACE_OLDER;
		return 0;
	case KEY_REFUSE:
		request->plan.older = TAP_OUTPUT_REFUSE_OLDER;
		return 0;
	case 'b':
		if (!tap_buffers_parse(arg, &request->plan.buffer_bytes, MOST_MEMORY_BYTES))
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
	case KEY_GPU:
		request->gpu = tap_env_gpu(arg);
		return request->gpu ? 0 : EINVAL;
	case ARGP_KEY_ARG:
		request->program = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		tap_message_write("no program to record: "
				  "ccltap record [-o DIR] -- PROGRAM [ARG...]");
		return EINVAL;
	}
	return parse_control(key, arg, request);
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[--] PROGRAM [ARG...]",
	.doc = "Runs PROGRAM and records the collective communication calls of all its "
	       "processes on this host. Ends as PROGRAM ends.",
};

/* Unique on this host, and easy to find in `lttng list`. */
static void name_session(struct recording *recording, struct tap_plan *plan)
{
	const char *job = getenv("CCLTAP_JOB");
	char host[128] = "";

	if (gethostname(host, sizeof(host) - 1) < 0)
		host[0] = '\0';
	if (!plan->session) {
		snprintf(recording->name, sizeof(recording->name), "ccltap-%s-%d-%jd", host,
			 getpid(), (intmax_t)time(NULL));
		plan->session = recording->name;
	}
	plan->job_name = job && *job ? job : plan->session;
	plan->job = tap_job_find();
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

static void sleep_ms(long ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000 };

	nanosleep(&time, NULL);
}

/* Forks the supervisor; returns the connection to it, or -errno. */
static int make_supervisor(const struct tap_plan *plan, const char *place, int listen_fd)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (!pid) {
		/*
		 * So that neither the terminal nor a signal to the program's group
		 * reaches the supervisor.
		 */
		setsid();
		tap_supervisor_run(plan, place, listen_fd, pair[1]);
	}
	close(pair[1]);
	if (pid > 0)
		return pair[0];
	close(pair[0]);
	return -errno;
}

/*
 * The process that listens at the directory's place owns its recording; if none listens,
 * this one makes the supervisor. Only one process can take the name, so of several that
 * come at once one does.
 */
static int find_supervisor(const struct tap_plan *plan, const char *place)
{
	int link, listen_fd;

	for (int tries = 0; tries < TRIES; tries++) {
		link = tap_link_connect(place);
		if (link != -ECONNREFUSED)
			return link;
		listen_fd = tap_link_listen(place);
		if (listen_fd >= 0) {
			link = make_supervisor(plan, place, listen_fd);
			close(listen_fd);
			return link;
		}
		if (listen_fd != -EADDRINUSE)
			return listen_fd;
		sleep_ms(PAUSE_MS);
	}
	return -ETIMEDOUT;
}

/* A descriptor by which other processes can wait for the program, or -1. */
static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static int join(struct recording *recording, const struct tap_plan *plan)
{
	struct tap_question question = {
		.verb = TAP_LINK_JOIN,
		.pid = recording->program.pid,
		.rank = plan->job.rank,
		.job = plan->job.key,
	};
	char place[TAP_LINK_PLACE_SIZE];
	int pidfd, ret;

	tap_link_place(recording->path ? recording->path : plan->folder, place);
	/* If the recording ends, or its maker fails, this process tries to make it. */
	for (int tries = 0; tries < TRIES; tries++) {
		recording->link = find_supervisor(plan, place);
		if (recording->link < 0)
			return recording->link;
		tap_link_set_patience(recording->link, JOIN_SECONDS);
		pidfd = open_pidfd(recording->program.pid);
		ret = tap_link_ask(recording->link, &question, pidfd);
		if (pidfd >= 0)
			close(pidfd);
		if (!ret)
			ret = tap_link_receive_answer(recording->link, &recording->joined);
		if (ret != -EPIPE && ret != -ECONNRESET)
			return ret;
		close(recording->link);
		recording->link = -1;
		sleep_ms(PAUSE_MS);
	}
	return -ETIMEDOUT;
}

/* Does everything up to starting the program; on failure nothing is left of it. */
static int prepare(struct recording *recording, const struct request *request)
{
	int ret = join(recording, &request->plan);
	char folder[TAP_USER_FOLDER_SIZE], why[256];
	const char *remedy;

	if (ret == -ETIMEDOUT) {
		tap_message_write("the process that records into %s does not answer: end "
				  "it, or give another directory with -o",
				  recording->shown);
		return TAP_EXIT_FAILURE;
	}
	if (ret < 0) {
		tap_user_folder_make(folder);
		remedy = tap_session_daemon_obstacle(why, sizeof(why));
		tap_message_write("cannot make a socket in %s for the recording: %s%s%s",
				  folder, strerror(-ret), remedy ? "; " : "",
				  remedy ? remedy : "");
		return TAP_EXIT_FAILURE;
	}
	switch (recording->joined.error) {
	case TAP_LINK_FINE:
		return 0;
	case TAP_LINK_OTHER:
		if (request->plan.is_metrics_alone) {
			tap_message_write("another job's metrics are in %s: give another "
					  "file with --metrics=FILE", recording->shown);
			break;
		}
		tap_message_write("%s is being recorded now: give another directory "
				  "with -o", recording->shown);
		break;
	case TAP_LINK_HUNG:
		tap_message_write("the LTTng session daemon does not answer, and the "
				  "program was not run: look after lttng-sessiond");
		break;
	case TAP_LINK_REFUSED:
		return TAP_EXIT_USAGE;
	}
	return TAP_EXIT_FAILURE;
}

/*
 * Reports how the program ended; after the last program, waits for the end of the
 * recording.
 */
static void leave(struct recording *recording)
{
	const struct tap_question question = {
		.verb = TAP_LINK_DONE,
		.code = recording->end.code,
		.status = recording->end.status,
		.is_void = recording->end.exec_errno,
	};

	tap_link_set_patience(recording->link, LEAVE_SECONDS);
	if (tap_link_ask(recording->link, &question, -1) ||
	    tap_link_receive_answer(recording->link, &recording->outcome))
		recording->outcome.error = TAP_LINK_FAILED;
	close(recording->link);
	recording->link = -1;
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

/* Writes what went wrong around the program: the cause, and not its consequences. */
static void write_failure(FILE *out, const struct recording *recording, int read_error)
{
	const struct tap_answer *outcome = &recording->outcome;
	const char *path = recording->joined.path;

	if (*outcome->lost)
		fprintf(out, "; not complete: %s", outcome->lost);
	if (outcome->unsent)
		fprintf(out, "; %" PRIu32 " snapshot%s could not be written", outcome->unsent,
			outcome->unsent == 1 ? "" : "s");
	if (access(path, F_OK) < 0)
		fputs("; the directory was removed while the program ran, record again",
		      out);
	else if (!*recording->joined.relay && is_disk_full(path))
		fputs("; not complete: the disk is full, record elsewhere with -o", out);
	else if (outcome->error == TAP_LINK_HUNG)
		fputs("; not complete: the LTTng session daemon does not answer, look "
		      "after lttng-sessiond", out);
	else if (outcome->error)
		fputs("; not complete: the process that records was killed, "
		      "\"ccltap end\" ends its session", out);
	else if (outcome->session_error)
		fprintf(out, "; not complete: the LTTng session daemon failed (%s), "
			"start it anew and record again",
			tap_session_error(outcome->session_error));
	else if (outcome->has_hole)
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

/* Discarded events and unrecorded processes may have had calls. */
static bool is_nothing_attached(const struct recording *recording,
				const struct tap_summary *summary, int read_error)
{
	const struct tap_answer *outcome = &recording->outcome;

	return !*recording->joined.relay && !summary->attached.count && !has_calls(summary) &&
	       (summary->was_read || read_error == -ENOENT) && !outcome->unrecorded &&
	       !outcome->has_hole && !outcome->session_error && !outcome->error;
}

/*
 * Whether an empty recording is expected: a flight recorder that had no reason to write,
 * a recording that was never started or that was ended, or one of some ranks only.
 */
static bool is_nothing_wanted(const struct request *request, const struct recording *recording)
{
	return (request->plan.lttng.is_flight && !recording->outcome.snapshots) ||
	       request->plan.lttng.is_paused || recording->outcome.was_ended ||
	       request->ranks;
}

static void write_sent(FILE *out, const struct tap_answer *joined)
{
	fprintf(out, "trace sent to the relay daemon at %s; \"ccltap report\" reads it there, "
		"in %s below that daemon's folder", joined->relay, joined->relay_folder);
}

static void write_body(FILE *out, const struct recording *recording,
		       const struct request *request, const struct tap_summary *summary,
		       int read_error)
{
	const struct tap_answer *outcome = &recording->outcome;
	uint64_t discarded = outcome->discarded > summary->discarded ?
		outcome->discarded : summary->discarded;

	if (*recording->joined.relay) {
		write_sent(out, &recording->joined);
	} else if (summary->was_read) {
		fprintf(out, "trace in %s: ", recording->shown);
		write_counts(out, summary);
	} else if (read_error == -ENOENT) {
		fprintf(out, request->plan.lttng.is_flight && !outcome->snapshots ?
			"nothing called for a snapshot in %s" : "nothing was traced in %s",
			recording->shown);
	} else if (read_error) {
		fprintf(out, "the trace in %s cannot be read", recording->shown);
	} else {
		fprintf(out,
			"trace in %s: %" PRIu64 " MiB, \"ccltap report %s\" sums it up",
			recording->shown, summary->bytes >> 20, recording->shown);
	}
	if (outcome->snapshots)
		fprintf(out, ", %" PRIu32 " snapshot%s", outcome->snapshots,
			outcome->snapshots == 1 ? "" : "s");
	if (summary->was_read || !read_error || discarded)
		fprintf(out, ", %" PRIu64 " discarded", discarded);
	if (discarded)
		fputs(" (the buffers were full: give more with --buffer-size)", out);
	write_texts(out, "; attached: ", ", ", &summary->attached);
	if (is_nothing_attached(recording, summary, read_error) &&
	    !is_nothing_wanted(request, recording))
		fprintf(out, "; nothing was attached: no process called a traced library "
			"(libnccl.so.2, librccl.so.1, libcuda.so.1, libamdhip64.so, "
			"libibverbs.so.1), or it is linked statically and %s, "
			"or the program is setuid or clears LD_PRELOAD",
			recording->nvtx ? "has no NVTX" :
			"NVTX_INJECTION64_PATH names another tool");
	write_texts(out, "; problem: ", "; problem: ", &summary->problems);
	if (outcome->unrecorded)
		fprintf(out, "; %" PRIu64 " process%s could not be recorded: %s",
			outcome->unrecorded, outcome->unrecorded == 1 ? "" : "es",
			outcome->why_unrecorded);
	if (outcome->metrics_error)
		fprintf(out, "; metrics could not be written to %s: %s",
			recording->joined.metrics, strerror(outcome->metrics_error));
	/* A missing trace is no read error: LTTng makes it at the first event. */
	write_failure(out, recording, read_error == -ENOENT ? 0 : read_error);
}

/*
 * Writes the first finding: of the snapshot that a flight recorder wrote when something
 * happened, and else of what is in the trace at the end.
 */
static void write_finding(FILE *out, const struct recording *recording,
			  const struct tap_summary *summary)
{
	char *line = tap_why_beside_line(recording->joined.path);
	size_t word;

	if (!line && summary->was_read && summary->bytes <= WHY_LIMIT_BYTES)
		line = tap_why_first_line(recording->joined.path, tap_summary_must_end);
	if (!line)
		return;
	/* A word, blanks, and a sentence. */
	word = strcspn(line, " ");
	fprintf(out, "; %.*s: %s (\"ccltap why %s\" says more)", (int)word, line,
		line + word + strspn(line + word, " "), recording->shown);
	free(line);
}

static void write_closing_line(const struct recording *recording,
			       const struct request *request)
{
	struct tap_summary summary;
	char *line = NULL;
	size_t size;
	FILE *out;
	int error;

	/* What was sent is not here; 0: its size is not shown either. */
	summary = (struct tap_summary){ 0 };
	error = *recording->joined.relay ?
		0 : tap_summary_read(&summary, recording->path, recording->joined.job,
				     READ_LIMIT_BYTES);
	out = open_memstream(&line, &size);
	if (out) {
		write_body(out, recording, request, &summary, error);
		write_finding(out, recording, &summary);
		if (fclose(out) != EOF)
			tap_message_write("%s", line);
	}
	free(line);
	tap_summary_free(&summary);
}

static void write_closing_of_metrics(const struct recording *recording)
{
	const struct tap_answer *outcome = &recording->outcome;
	const char *file = recording->joined.metrics;
	struct tap_answer losses = { 0 };

	if (outcome->error)
		tap_message_write("metrics in %s: the process that writes them was killed; "
				  "remove the file", file);
	else if (outcome->metrics_error)
		tap_message_write("metrics could not be written to %s: %s", file,
				  strerror(outcome->metrics_error));
	else
		tap_message_write("metrics of %" PRIu32 " process%s were in %s, which is "
				  "removed now that they have ended",
				  outcome->metrics_processes,
				  outcome->metrics_processes == 1 ? "" : "es", file);
	if (!*outcome->path)
		return;
	tap_answer_say_losses(&losses, outcome);
	tap_message_write("what \"ccltap start\" recorded is in %s, \"ccltap report %s\" sums "
			  "it up%s", outcome->path, outcome->path, losses.text);
}

/* A shell in which programs are counted alone (`ccltap env --metrics`) has set it. */
static const char *metrics_wish(const struct tap_plan *plan)
{
	if (plan->is_metrics_alone)
		return "alone";
	if (plan->metrics)
		return "1";
	return getenv(TAP_ENV_METRICS_VARIABLE) ? "0" : NULL;
}

static void start_program(struct recording *recording, const struct request *request)
{
	const struct tap_answer *joined = &recording->joined;
	const struct tap_program_variable variables[] = {
		{ "LD_PRELOAD", recording->preload, false },
		{ "CCLTAP_JOB", joined->job, true },
		{ "CCLTAP_RECORDER", *joined->recorder ? joined->recorder : NULL, false },
		{ "NVTX_INJECTION64_PATH", recording->nvtx, false },
		{ TAP_ENV_METRICS_VARIABLE, metrics_wish(&request->plan), false },
		{ "CCLTAP_NVTX", request->nvtx ? "1" : NULL, false },
		{ "CCLTAP_RANKS", request->ranks, false },
		{ "CCLTAP_PAUSED", request->plan.lttng.is_paused ? "1" : NULL, false },
		{ "CCLTAP_FLIGHT", request->plan.lttng.is_flight ? "1" : NULL, false },
		{ "CCLTAP_STUCK_AFTER", request->stuck_after, false },
		{ "LTTNG_HOME", *joined->lttng_home ? joined->lttng_home : NULL, false },
		{ TAP_STACKS_VARIABLE, request->depth, false },
		{ TAP_ENV_GPU_VARIABLE, request->gpu, false },
	};

	tap_program_start(&recording->program, variables, ARRAY_SIZE(variables));
}

static int record(struct recording *recording, const struct request *request)
{
	int ret = tap_program_fork(&recording->program, request->program);

	if (ret) {
		tap_message_write("cannot fork: %s", strerror(-ret));
		return TAP_EXIT_FAILURE;
	}
	ret = prepare(recording, request);
	if (ret) {
		tap_program_abandon(&recording->program);
		return ret;
	}
	start_program(recording, request);
	tap_program_wait(&recording->program, &recording->end);
	leave(recording);
	if (recording->end.exec_errno)
		report_missing_program(request->program[0], recording->end.exec_errno);
	else if (request->plan.is_metrics_alone && !recording->outcome.is_going_on)
		write_closing_of_metrics(recording);
	else if (!recording->outcome.is_going_on)
		write_closing_line(recording, request);
	tap_program_end_alike(&recording->end);
}

static char *shown_path(const char *folder)
{
	char host[256] = "", *shown;

	if (gethostname(host, sizeof(host) - 1) < 0 ||
	    asprintf(&shown, "%s/%s", folder, host) < 0)
		return NULL;
	return shown;
}

/* The supervisor leaves the current folder, so its paths are absolute. */
static char *find_absolute(const char *path)
{
	char *folder, *absolute;

	if (*path == '/')
		return strdup(path);
	folder = getcwd(NULL, 0);
	if (!folder)
		return NULL;
	if (asprintf(&absolute, "%s/%s", folder, path) < 0)
		absolute = NULL;
	free(folder);
	return absolute;
}

static char *find_metrics(const char *file)
{
	char host[256] = "", name[300];

	if (file)
		return find_absolute(file);
	if (gethostname(host, sizeof(host) - 1) < 0)
		return NULL;
	snprintf(name, sizeof(name), "ccltap-%s.prom", host);
	return find_absolute(name);
}

/* Without layers nothing is recorded until "ccltap start"; metrics are all that is wanted. */
static int check_alone(struct request *request)
{
	struct tap_plan *plan = &request->plan;

	plan->is_metrics_alone = request->is_none;
	if (!request->is_none)
		return 0;
	if (!request->has_metrics) {
		tap_message_write("--layers none records nothing: give --metrics too");
		return -EINVAL;
	}
	if (!plan->lttng.is_flight && !plan->relayd && !plan->max_bytes &&
	    !plan->lttng.is_paused && !request->ranks && !request->nvtx)
		return 0;
	tap_message_write("--layers none records nothing: leave out --flight-recorder, "
			  "--relay, --max-size, --ranks, --paused and --nvtx");
	return -EINVAL;
}

int tap_record_main(int argc, char **argv)
{
	struct request request = {
		.plan = {
			.folder = "ccltap-trace",
			.min_interval_s = 60,
			.lttng.layers = (1u << TAP_NR_LAYERS) - 1,
		},
	};
	struct recording recording = { .link = -1 };
	char path[PATH_MAX], *metrics = NULL, *folder = NULL;
	int ret;

	if (tap_command_line_parse(&argp, argc, argv, ARGP_IN_ORDER, &request))
		return TAP_EXIT_USAGE;
	if (request.gpu && !strcmp(request.gpu, "off"))
		request.plan.lttng.layers &= ~(1u << TAP_LAYER_gpu);
	if ((request.stuck_after || request.has_min_interval) &&
	    !request.plan.lttng.is_flight) {
		tap_message_write("%s says when a flight recorder is written: "
				  "give --flight-recorder too",
				  request.stuck_after ? "--stuck-after" : "--min-interval");
		return TAP_EXIT_USAGE;
	}
	if (request.plan.relayd && request.plan.max_bytes) {
		tap_message_write("--max-size bounds what is on this host, and --relay sends "
				  "everything to another: give one of them");
		return TAP_EXIT_USAGE;
	}
	if (check_alone(&request))
		return TAP_EXIT_USAGE;
	if (request.has_metrics) {
		metrics = find_metrics(request.metrics);
		folder = find_absolute(request.plan.folder);
		if (!metrics || !folder) {
			tap_message_write("cannot name the file for the metrics: %s",
					  strerror(errno));
			return TAP_EXIT_FAILURE;
		}
		request.plan.metrics = metrics;
	}
	if (request.plan.is_metrics_alone)
		request.plan.folder = folder;
	if (request.plan.lttng.is_flight && !request.stuck_after)
		request.stuck_after = "60";
	ret = tap_program_find(request.program[0], path, sizeof(path));
	if (ret)
		return report_missing_program(request.program[0], -ret);
	if (tap_env_compose_preload(getenv("LD_PRELOAD"), path, request.plan.is_metrics_alone,
				    &recording.preload))
		return TAP_EXIT_FAILURE;
	/* Calls that are known from NVTX alone are not counted. */
	if (!request.plan.is_metrics_alone &&
	    tap_env_compose_nvtx(getenv("NVTX_INJECTION64_PATH"), &recording.nvtx)) {
		free(recording.preload);
		return TAP_EXIT_FAILURE;
	}
	name_session(&recording, &request.plan);
	if (request.plan.is_metrics_alone) {
		recording.path = strdup(request.plan.metrics);
		recording.shown = strdup(request.plan.metrics);
	} else {
		recording.path = tap_output_find(request.plan.folder);
		recording.shown = shown_path(request.plan.folder);
	}
	ret = record(&recording, &request);
	free(recording.path);
	free(recording.shown);
	free(recording.preload);
	free(recording.nvtx);
	free(metrics);
	free(folder);
	return ret;
}
