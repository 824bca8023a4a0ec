/* SPDX-License-Identifier: MIT */
/*
 * `ccltap doctor`: looks for what will go wrong on this machine, before a job is started
 * on it. Changes nothing: it starts no daemon and makes no session.
 *
 * Trials of other libraries run in a child: they may hang, print or abort.
 */
#include <argp.h>
#include <babeltrace2/babeltrace.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <lttng/lttng.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/compiler.h"
#include "tools/command_line.h"
#include "tools/message.h"
#include "tools/metrics_http.h"
#include "tools/place.h"
#include "tools/record_buffers.h"
#include "tools/record_session.h"
#include "tools/commands.h"

#define PATIENCE_MS 10000
#define HANG_UP_MS 500

enum state { OK, NOTE, WRONG };

struct doctor {
	bool is_json;
	bool is_answered; /* by a session daemon */
	unsigned int wrong;
};

/* ---- Output ---- */

static void print_quoted(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		const unsigned char c = *text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c > '~')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

/*
 * Writes one line: `remedy` says how to mend the fault, and is NULL where there is none.
 */
static void tap_printf(5, 6)
	report(struct doctor *doctor, enum state state, const char *what,
	       const char *remedy, const char *format, ...)
{
	static const char *const names[] = { "ok", "note", "wrong" };
	char text[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	doctor->wrong += state == WRONG;
	if (doctor->is_json) {
		printf("{\"check\":");
		print_quoted(what);
		printf(",\"state\":\"%s\",\"text\":", names[state]);
		print_quoted(text);
		printf(",\"remedy\":");
		if (remedy)
			print_quoted(remedy);
		else
			printf("null");
		printf("}\n");
		return;
	}
	printf("%-6s %-16s %s%s%s\n", names[state], what, text, remedy ? ": " : "",
	       remedy ? remedy : "");
}

/* ---- Trials in a child ---- */

/* Fills `text` and returns an exit status. */
typedef int (*trial)(const char *argument, char *text, size_t size);

static void run_trial(trial try, const char *argument, int out)
{
	char text[256] = "";
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int status;

	for (int fd = STDIN_FILENO; null_fd >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null_fd, fd);
	status = try(argument, text, sizeof(text));
	if (write(out, text, strlen(text)) < 0)
		_exit(126);
	_exit(status);
}

/* Returns the exit status of the trial; -1 when it did not exit by itself. */
static int try_apart(trial try, const char *argument, char *ret_text, size_t size)
{
	struct pollfd end;
	int ends[2], status = -1;
	ssize_t length;
	pid_t pid;

	*ret_text = '\0';
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid)
		run_trial(try, argument, ends[1]);
	close(ends[1]);
	end = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	if (pid > 0) {
		if (poll(&end, 1, PATIENCE_MS) <= 0)
			kill(pid, SIGKILL);
		length = read(ends[0], ret_text, size - 1);
		ret_text[length > 0 ? length : 0] = '\0';
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
	close(ends[0]);
	return status;
}

static int try_daemon(const char *argument, char *text, size_t size)
{
	struct lttng_session *sessions = NULL;

	(void)argument;
	snprintf(text, size, " ");
	if (lttng_session_daemon_alive() != 1)
		return 1;
	/*
	 * The call above sends no request: a daemon that hangs still accepts connections.
	 */
	return lttng_list_sessions(&sessions) >= 0 ? 0 : 1;
}

/*
 * Whether the daemon does not hang up on this socket. One that refuses a process hangs up
 * once more: LTTng-UST tries twice before it waits.
 */
static bool stays_connected(int fd)
{
	struct pollfd end = { .fd = fd };

	return !poll(&end, 1, HANG_UP_MS);
}

/* Finds a socket to the daemon's end for traced programs; -1 when there is none. */
static int find_socket(int after)
{
	static const char part[] = "/lttng-ust-sock-";
	const int last = (int)sysconf(_SC_OPEN_MAX);
	struct sockaddr_un peer;
	socklen_t length;

	for (int fd = after + 1; fd < last && fd < 1024; fd++) {
		length = sizeof(peer);
		memset(&peer, 0, sizeof(peer));
		if (!getpeername(fd, (struct sockaddr *)&peer, &length) &&
		    peer.sun_family == AF_UNIX && strstr(peer.sun_path, part))
			return fd;
	}
	return -1;
}

enum { TAKEN, REFUSED, NOT_SOUGHT };

/*
 * Loads LTTng-UST as a traced program does; that connects to the daemon, and returns once
 * this process is registered or refused.
 */
static int try_to_register(const char *library, char *text, size_t size)
{
	int fd = -1, found = NOT_SOUGHT;

	snprintf(text, size, " ");
	if (!dlopen(library, RTLD_NOW | RTLD_LOCAL))
		return NOT_SOUGHT;
	while (found != TAKEN && (fd = find_socket(fd)) >= 0)
		found = stays_connected(fd) ? TAKEN : REFUSED;
	return found;
}

/* Fills in what `program` prints about its version. */
static int try_version(const char *program, char *text, size_t size)
{
	FILE *said;

	setenv("CCLTAP_ASKED", program, 1);
	said = popen("exec \"$CCLTAP_ASKED\" --version", "re");
	if (!said || !fgets(text, (int)size, said))
		return 1;
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

static int try_to_load(const char *library, char *text, size_t size)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	snprintf(text, size, "%s", handle ? " " : dlerror());
	return handle ? 0 : 1;
}

static int try_nccl(const char *library, char *text, size_t size)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
	int (*get_version)(int *), version;

	if (!handle) {
		snprintf(text, size, "%s", dlerror());
		return 1;
	}
	get_version = (int (*)(int *))dlsym(handle, "ncclGetVersion");
	if (!get_version || get_version(&version))
		snprintf(text, size, "of no known release");
	else if (version < 20000)
		snprintf(text, size, "%d.%d.%d", version / 1000, version / 100 % 10,
			 version % 100);
	else
		snprintf(text, size, "%d.%d.%d", version / 10000, version / 100 % 100,
			 version % 100);
	return 0;
}

/* ---- Checks ---- */

static void check_tracer(struct doctor *doctor)
{
	static const char *const files[] = { "libccltap.so", "libccltap-events-hip.so",
					     "libccltap-events.so" };
	const char *folder = tap_place_libraries();
	char path[PATH_MAX], text[256];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		if (access(path, R_OK) < 0) {
			report(doctor, WRONG, "tracer",
			       "install ccltap, or set CCLTAP_LIBDIR to the directory of it",
			       "%s: %s", path, strerror(errno));
			return;
		}
	}
	/* The last file needs LTTng, and loading it initializes LTTng. */
	if (try_apart(try_to_load, path, text, sizeof(text)))
		report(doctor, WRONG, "tracer",
		       "install LTTng-UST 2.13 or later (Debian: liblttng-ust1)",
		       "%s cannot be loaded: %s", path, text);
	else
		report(doctor, OK, "tracer", NULL, "in %s", folder);
	if (!tap_place_bundled("lib/liblttng-ust-fd.so.1", path, sizeof(path)))
		snprintf(path, sizeof(path), "liblttng-ust-fd.so.1");
	if (try_apart(try_to_load, path, text, sizeof(text)))
		report(doctor, WRONG, "tracer",
		       "install LTTng-UST 2.13 or later (Debian: liblttng-ust1)",
		       "%s cannot be loaded: %s", path, text);
}

static void check_reader(struct doctor *doctor)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/babeltrace-plugin-ccltap.so",
		 tap_place_plugins());
	if (access(path, R_OK) < 0)
		report(doctor, WRONG, "reader",
		       "install ccltap, or set CCLTAP_LIBDIR; recording works without",
		       "%s: %s", path, strerror(errno));
	else
		report(doctor, OK, "reader", NULL, "%s", path);
}

static bool is_in_group(const char *name)
{
	const struct group *group = getgrnam(name);
	gid_t list[1024];
	int count = getgroups(ARRAY_SIZE(list), list);

	for (int i = 0; group && i < count; i++)
		if (list[i] == group->gr_gid)
			return true;
	return group && getegid() == group->gr_gid;
}

static bool is_in_path(const char *program)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];
	size_t length;

	if (strchr(program, '/'))
		return !access(program, X_OK);
	for (; at && *at; at += length + (at[length] == ':')) {
		length = strcspn(at, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)length, at, program);
		if (!access(path, X_OK))
			return true;
	}
	return false;
}

/* A daemon answers: whether it takes the programs of this place, too. */
static void check_registration(struct doctor *doctor)
{
	char path[PATH_MAX], text[64];

	snprintf(path, sizeof(path), "%s/libccltap-events.so", tap_place_libraries());
	switch (try_apart(try_to_register, path, text, sizeof(text))) {
	case TAKEN:
		report(doctor, OK, "session daemon", NULL, "one answers, and takes programs");
		break;
	case REFUSED:
		report(doctor, WRONG, "session daemon",
		       "its process namespace must be that of the programs, or around it (a "
		       "container: start the daemon in it or on the host, or give both "
		       "--pid=host)",
		       "one answers, and refuses the programs of this place");
		break;
	default:
		report(doctor, WRONG, "session daemon",
		       "LTTng-UST and the daemon must be of releases that know each other "
		       "(2.13 and later), and a container needs all of the daemon's folder",
		       "one answers, and LTTng-UST does not find it");
	}
}

static void check_daemon(struct doctor *doctor)
{
	const char *program = tap_place_daemon(), *remedy;
	bool is_roots = geteuid() == 0 || is_in_group("tracing");
	char text[256];
	int status = try_apart(try_daemon, NULL, text, sizeof(text));

	doctor->is_answered = !status;
	if (!status)
		check_registration(doctor);
	else if (status < 0)
		report(doctor, WRONG, "session daemon",
		       "look after lttng-sessiond: a traced program waits 3 s for it",
		       "it does not answer");
	else if (!is_in_path(program))
		report(doctor, WRONG, "session daemon",
		       "install LTTng (Debian: lttng-tools), or say in LTTNG_SESSIOND_PATH "
		       "where it is",
		       "none runs, and there is no %s", program);
	else if ((remedy = tap_session_daemon_obstacle(text, sizeof(text))))
		report(doctor, WRONG, "session daemon", remedy,
		       "none runs, and %s cannot be started: %s", program, text);
	else
		report(doctor, OK, "session daemon", NULL,
		       "none runs; ccltap record starts %s", program);
	if (!is_roots)
		report(doctor, NOTE, "session daemon", NULL,
		       "this user is not in the group \"tracing\", so root's daemon is not "
		       "used, if it runs: only this user's own processes are recorded");
}

/* Finds the version of the daemon that answers, or of the one that would be started. */
static bool find_daemon_version(const struct doctor *doctor, char *ret_text, size_t size,
				unsigned *ret_major, unsigned *ret_minor)
{
	pid_t pid = tap_session_daemon_pid();
	char program[64];

	snprintf(program, sizeof(program), "/proc/%d/exe", pid);
	if (doctor->is_answered && !pid)
		return false;
	/* Root's daemon shows nobody else its program, which is this machine's. */
	if ((!pid || try_apart(try_version, program, ret_text, size)) &&
	    try_apart(try_version, tap_place_daemon(), ret_text, size))
		return false;
	return sscanf(ret_text, "%u.%u", ret_major, ret_minor) == 2;
}

/*
 * A daemon of 2.15 or later writes CTF 2 by default, which babeltrace2 reads from 2.1 on.
 */
static void check_format(struct doctor *doctor)
{
	const bool is_old_reader = bt_version_get_major() == 2 &&
				   bt_version_get_minor() < 1;
	const bool is_asked = tap_session_format_function();
	unsigned major = 0, minor = 0;
	char text[64];

	if (!find_daemon_version(doctor, text, sizeof(text), &major, &minor)) {
		if (doctor->is_answered && is_old_reader && !is_asked)
			report(doctor, NOTE, "trace format",
			       "install babeltrace2 2.1 or later if it is LTTng 2.15 or later",
			       "the process of the daemon is not seen here, so its version "
			       "is not known");
		return;
	}
	if ((major > 2 || (major == 2 && minor >= 15)) && is_old_reader) {
		report(doctor, is_asked ? NOTE : WRONG, "trace format",
		       "install babeltrace2 2.1 or later, or start lttng-sessiond with "
		       "--default-trace-format=ctf-1.8",
		       "lttng-sessiond %s writes CTF 2 unless ccltap record asks it "
		       "for CTF 1.8%s, and babeltrace2 %u.%u does not read it",
		       text, is_asked ? "" : ", for which liblttng-ctl is too old",
		       bt_version_get_major(), bt_version_get_minor());
		return;
	}
	report(doctor, OK, "trace format", NULL,
	       "lttng-sessiond %s and babeltrace2 %u.%u have one in common", text,
	       bt_version_get_major(), bt_version_get_minor());
}

static void check_buffers(struct doctor *doctor)
{
	struct tap_buffers buffers;
	struct tap_buffers_room room;

	if (tap_buffers_choose(0, &buffers, &room))
		report(doctor, WRONG, "shared memory",
		       "enlarge it (a container: --shm-size), or give record --buffer-size",
		       "buffers for %" PRIu64 " processors need %" PRIu64
		       " KiB, and half of "
		       "what /dev/shm and the memory limit give is %" PRIu64 " KiB",
		       room.processors, room.needed_bytes >> 10,
		       room.available_bytes >> 10);
	else if (buffers.hot_bytes * buffers.hot_count < UINT64_C(4) << 20)
		report(doctor, NOTE, "shared memory",
		       "enlarge /dev/shm if events are discarded (a container: --shm-size)",
		       "a processor gets a buffer of %" PRIu64 " KiB",
		       buffers.hot_bytes * buffers.hot_count >> 10);
	else
		report(doctor, OK, "shared memory", NULL,
		       "a processor gets a buffer of %" PRIu64 " MiB",
		       buffers.hot_bytes * buffers.hot_count >> 20);
}

/*
 * LTTng-UST takes two or three descriptors per session and processor in each traced
 * program.
 */
static void check_limits(struct doctor *doctor)
{
	struct rlimit limit;
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	rlim_t wanted = 256 + 8 * (rlim_t)(processors > 0 ? processors : 1);

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < wanted)
		report(doctor, WRONG, "descriptors", "ulimit -n raises it",
		       "a process may have %ju, and LTTng needs some for each of %ld processors",
		       (uintmax_t) limit.rlim_cur, processors);
	else
		report(doctor, OK, "descriptors", NULL, "a process may have %ju",
		       (uintmax_t) limit.rlim_cur);
}

/* A number in a file of the kernel's, -1 where there is none. */
static long read_setting(const char *path)
{
	long number = -1;
	FILE *file = fopen(path, "re");

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

/* Whether the driver's parameters have the line "name: 1". */
static bool is_profiling_for_root(void)
{
	char line[256];
	bool found = false;
	FILE *file = fopen("/proc/driver/nvidia/params", "re");

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = !strncmp(line, "RmProfilingAdminOnly: 1", 23);
	fclose(file);
	return found && geteuid();
}

/* LTTng maps each buffer of each processor into every process. */
static void check_kernel(struct doctor *doctor)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	long wanted = 2048 + 8 * processors;
	long mappings = read_setting("/proc/sys/vm/max_map_count");

	if (mappings >= 0 && mappings < wanted)
		report(doctor, WRONG, "kernel", "sysctl vm.max_map_count=65530",
		       "vm.max_map_count is %ld, and LTTng maps some buffers for each of %ld "
		       "processors",
		       mappings, processors);
	else
		report(doctor, OK, "kernel", NULL, "a process may have %ld mappings",
		       mappings);
	if (is_profiling_for_root())
		report(doctor, NOTE, "kernel",
		       "load the driver with NVreg_RestrictProfilingToAdminUsers=0",
		       "the NVIDIA driver lets only root profile (RmProfilingAdminOnly)");
}

/*
 * LTTng asks glibc for the processor at each event. glibc reads it where the kernel keeps it
 * for each thread (rseq). Else it asks the kernel's vDSO, which on aarch64 does not know: a
 * system call.
 */
static void check_rseq(struct doctor *doctor)
{
	const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");
	const char *why, *remedy = NULL;
	enum state state = OK;

	if (size && *size) {
		report(doctor, OK, "rseq", NULL,
		       "the kernel keeps the processor's number for each thread");
		return;
	}
	/* Without arguments the kernel refuses it as wrong, where it knows it. */
	if (syscall(SYS_rseq, NULL, 0, 0, 0) < 0 && errno != EINVAL)
		why = "the kernel, or a container's filter of system calls, refuses it";
	else if (size)
		why = "it is turned off (glibc.pthread.rseq in GLIBC_TUNABLES)";
	else
		why = "glibc is older than 2.35";
#ifndef __x86_64__
	state = NOTE;
	remedy = "glibc 2.35 or later registers it, some of 2.34 with "
		 "GLIBC_TUNABLES=glibc.pthread.rseq=1; a container's filter must let it pass";
#endif
	report(doctor, state, "rseq", remedy, "%s; %s", why,
	       state == OK ? "the vDSO knows the processor's number" :
			     "each event costs a system call more");
}

static void check_environment(struct doctor *doctor)
{
	static const struct {
		const char *name, *text;
	} variables[] = {
		{ "LD_PRELOAD", "is preloaded too" },
		{ "LD_AUDIT", "audits the linker, and may keep the tracer from calls" },
		{ "NVTX_INJECTION64_PATH",
		  "hears NVTX, so a NCCL that is linked statically is not seen" },
		{ "NCCL_NVTX_DISABLE", "keeps NCCL from telling NVTX" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i].name);

		if (value && *value)
			report(doctor, NOTE, "environment", NULL, "%s: %s %s",
			       variables[i].name, value, variables[i].text);
	}
}

static void check_libraries(struct doctor *doctor)
{
	char text[256];

	if (!try_apart(try_nccl, "libnccl.so.2", text, sizeof(text)))
		report(doctor, OK, "NCCL", NULL, "libnccl.so.2 is %s", text);
	else if (!try_apart(try_nccl, "librccl.so.1", text, sizeof(text)))
		report(doctor, OK, "NCCL", NULL, "librccl.so.1 is %s", text);
	else
		report(doctor, NOTE, "NCCL", NULL,
		       "none is where the linker looks; frameworks bring their own");
	if (try_apart(try_to_load, "libcuda.so.1", text, sizeof(text)))
		report(doctor, NOTE, "GPU", NULL, "no CUDA driver: %s", text);
	else if (access("/dev/nvidiactl", R_OK | W_OK) < 0)
		report(doctor, WRONG, "GPU",
		       "a container needs its devices passed in, a user the group of them",
		       "there is a CUDA driver, but /dev/nvidiactl: %s", strerror(errno));
	else
		report(doctor, OK, "GPU", NULL,
		       "there is a CUDA driver, and access to it");
}

/* Only one tool per process can hold CUPTI: the first that requests it. */
static void check_cupti(struct doctor *doctor)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12",
					     "libcupti.so" };
	const char *holder = getenv("CUDA_INJECTION64_PATH");
	char text[256];
	size_t i;

	/* The variable may name the tracer: see ccltap-events(7). */
	if (holder && *holder && !strstr(holder, "libccltap.so"))
		report(doctor, NOTE, "CUPTI", "unset CUDA_INJECTION64_PATH for the job",
		       "%s is loaded by CUDA first, and may hold it", holder);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!try_apart(try_to_load, names[i], text, sizeof(text)))
			break;
	if (i < ARRAY_SIZE(names))
		report(doctor, OK, "CUPTI", NULL, "%s can be loaded", names[i]);
	else
		report(doctor, NOTE, "CUPTI", NULL,
		       "none is where the linker looks; frameworks bring their own");
}

static void check_verbs(struct doctor *doctor)
{
	struct dirent *entry;
	char names[256] = "";
	size_t used = 0;
	DIR *devices = opendir("/sys/class/infiniband");

	while (devices && (entry = readdir(devices)))
		if (entry->d_name[0] != '.' && used < sizeof(names))
			used += snprintf(names + used, sizeof(names) - used, " %s",
					 entry->d_name);
	if (devices)
		closedir(devices);
	if (!used)
		report(doctor, NOTE, "RDMA", NULL, "no device");
	else if (access("/dev/infiniband", R_OK | X_OK) < 0)
		report(doctor, WRONG, "RDMA", "pass /dev/infiniband into the container",
		       "devices%s, but /dev/infiniband: %s", names, strerror(errno));
	else
		report(doctor, OK, "RDMA", NULL, "devices%s", names);
}

static void check_metrics(struct doctor *doctor)
{
#ifdef HAVE_MICROHTTPD
	static const char library[] = TAP_METRICS_HTTP_LIBRARY;
	char text[256];

	if (try_apart(try_to_load, library, text, sizeof(text)))
		report(doctor, NOTE, "metrics",
		       "install libmicrohttpd (Debian: libmicrohttpd12) for "
		       "\"record --metrics-listen\"",
		       "%s",
		       *text ? text
			     : TAP_METRICS_HTTP_LIBRARY " ends the process that loads it");
	else
		report(doctor, OK, "metrics", NULL,
		       "%s can be loaded: --metrics-listen can serve", library);
#else
	report(doctor, NOTE, "metrics",
	       "install its header (Debian: libmicrohttpd-dev) and build ccltap again for "
	       "\"record --metrics-listen\"",
	       "ccltap was built without libmicrohttpd");
#endif
}

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "write one JSON object a line, for programs", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor *doctor = state->input;

	switch (key) {
	case 'j':
		doctor->is_json = true;
		return 0;
	case ARGP_KEY_ARG:
		tap_message_write("doctor takes no argument, and got \"%s\": "
				  "\"ccltap doctor --help\" says more", arg);
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Looks for what is missing or will go wrong on this machine, one line each."
	       " Changes nothing.",
};

int tap_doctor_main(int argc, char **argv)
{
	static void (*const checks[])(struct doctor *) = {
		check_tracer, check_reader, check_daemon, check_format, check_buffers,
		check_limits, check_kernel, check_rseq, check_environment, check_libraries, check_cupti,
		check_verbs, check_metrics,
	};
	struct doctor doctor = { 0 };

	if (tap_command_line_parse(&argp, argc, argv, 0, &doctor))
		return TAP_EXIT_USAGE;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		checks[i](&doctor);
	if (fflush(stdout) == EOF) {
		tap_message_write("cannot write: %s", strerror(errno));
		return TAP_EXIT_FAILURE;
	}
	return doctor.wrong ? TAP_EXIT_FAILURE : 0;
}
