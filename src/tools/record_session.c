/* SPDX-License-Identifier: MIT */
/* Drives LTTng through liblttng-ctl; hides the daemon and the layout of the session. */
#include "tools/record_session.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <lttng/lttng.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/compiler.h"
#include "tools/message.h"
#include "tools/place.h"
#include "tools/user_folder.h"

/* A working daemon answers in milliseconds, even while it writes. */
#define PATIENCE_SECONDS 30

/* By then all data is written, except what no process will ever write. */
#define DESTROY_MS 3000

/* How long events may wait in a buffer that is not full before they are sent. */
#define SENDING_US 1000000

/* LTTng's own sizes of the channel that describes the events. */
#define METADATA_BYTES 4096
#define METADATA_COUNT 2

/* Patterns of the layers' events; first the one that is always on. */
#define PATTERN(layer) #layer ":*",
static const char *const patterns[] = { "tap:*", TAP_SESSION_LAYERS(PATTERN) };

/* Set in the environment of a daemon that ccltap started. */
static const char ours[] = "CCLTAP_STARTED";

/*
 * Set-up calls have a channel of their own, so that frequent calls cannot crowd them out.
 * A row's log level selects the channel. A range of levels would include the other
 * channel's.
 */
static const struct {
	const char *name;
	int level;
} channels[] = {
	{ "setup", LTTNG_LOGLEVEL_INFO },
	{ "hot", LTTNG_LOGLEVEL_DEBUG },
};

/* Silences the messages of liblttng-ctl: ccltap writes a single line. */
extern int lttng_opt_quiet __attribute__((weak));

void tap_session_set_watchdog(void (*expired)(int signal_number))
{
	struct sigaction action = { .sa_handler = expired };
	sigset_t set;

	if (&lttng_opt_quiet)
		lttng_opt_quiet = 1;
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static unsigned patience_s = PATIENCE_SECONDS;

void tap_session_set_patience(unsigned seconds)
{
	patience_s = seconds ? seconds : PATIENCE_SECONDS;
}

/* A descriptor of liblttng-ctl's is below this number. */
#define DESCRIPTORS 65536
/* How long a daemon that did not answer may take for another request. */
#define HUNG_SECONDS 1

static volatile sig_atomic_t is_hung;

static bool is_to_daemon(int fd)
{
	static const char name[] = "/client-lttng-sessiond";
	struct sockaddr_un peer = { 0 };
	socklen_t size = sizeof(peer);
	size_t length;

	if (getpeername(fd, (struct sockaddr *)&peer, &size) < 0 ||
	    peer.sun_family != AF_UNIX)
		return false;
	length = strnlen(peer.sun_path, sizeof(peer.sun_path));
	return length >= strlen(name) &&
	       !memcmp(peer.sun_path + length - strlen(name), name, strlen(name));
}

/* liblttng-ctl goes on after a signal, but not without its connection. */
void tap_session_give_up(void)
{
	int saved_errno = errno;

	is_hung = true;
	for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS; fd++)
		if (is_to_daemon(fd))
			shutdown(fd, SHUT_RDWR);
	/* A request may connect more than once. */
	alarm(HUNG_SECONDS);
	errno = saved_errno;
}

bool tap_session_is_hung(void)
{
	return is_hung;
}

void tap_session_trust(void)
{
	is_hung = false;
}

/* The daemon answers nobody while it writes a snapshot, and a disk may be slow. */
#define SNAPSHOT_PATIENCE_SECONDS 3600

/* Wraps every request in the alarm: ASK(lttng_...()) has the request's own value. */
#define ASK(request) ASK_FOR(patience_s, request)
#define ASK_FOR(seconds, request)		\
	({					\
		alarm(is_hung ? HUNG_SECONDS : (seconds)); \
		int ask_answer_ = (request);	\
		alarm(0);			\
		ask_answer_;			\
	})

/* How often to start a daemon that is killed while it starts. */
#define STARTS 3

bool tap_session_is_reached(void)
{
	return ASK(lttng_session_daemon_alive()) == 1;
}

bool tap_session_answers(void)
{
	struct lttng_session *sessions = NULL;
	int count = ASK(lttng_list_sessions(&sessions));

	free(sessions);
	return count >= 0;
}

static void sleep_ms(long ms)
{
	struct timespec time = { .tv_nsec = ms * 1000000 };

	nanosleep(&time, NULL);
}

/*
 * Whether the daemon can give its sockets to its group. In a user namespace without an entry
 * for that group it cannot, and ends.
 */
static bool is_group_mapped(const struct group *group)
{
	unsigned inside, outside, count;
	bool is = false;
	FILE *file = fopen("/proc/self/gid_map", "re");

	if (!file)
		return true;
	while (!is && fscanf(file, "%u %u %u", &inside, &outside, &count) == 3)
		is = group->gr_gid >= inside && group->gr_gid - inside < count;
	fclose(file);
	return is;
}

/* The group of the daemon: LTTng's own where NULL. */
static const char *choose_group(void)
{
	const struct group *group = geteuid() ? NULL : getgrnam("tracing");

	return group && !is_group_mapped(group) ? "root" : NULL;
}

/* The daemon outlives the job, so it inherits nothing from the job. */
static void run_daemon(const char *path, const char *group)
{
	static const int reset[] = { SIGCHLD, SIGPIPE, SIGHUP, SIGINT, SIGQUIT };
	struct sigaction usual = { .sa_handler = SIG_DFL };
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t set;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (null_fd < 0 || dup2(null_fd, fd) < 0)
			_exit(126);
	/*
	 * The daemon would keep inherited locks and pipes open for as long as it lives.
	 */
	closefrom(STDERR_FILENO + 1);
	for (size_t i = 0; i < ARRAY_SIZE(reset); i++)
		sigaction(reset[i], &usual, NULL);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	unsetenv("LD_PRELOAD");
	tap_place_prepare_daemon();
	setenv(ours, "1", 1);
	/* For a relay daemon on a host that says nothing any more; less than our patience. */
	setenv("LTTNG_NETWORK_SOCKET_TIMEOUT", "20000", 0);
	execlp(path, path, "--daemonize", group ? "--group" : NULL, group, (char *)NULL);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Root's daemon lives in /run, whatever the environment says. */
static int choose_home(char *ret_home, size_t size)
{
	char folder[TAP_USER_FOLDER_SIZE];
	int ret;

	*ret_home = '\0';
	if (!geteuid() || getenv("LTTNG_HOME"))
		return 0;
	ret = tap_user_folder_make(folder);
	if (ret) {
		tap_message_write(
			"cannot make %s for LTTng: %s; name another directory of "
			"this host in LTTNG_HOME",
			folder, strerror(-ret));
		return ret;
	}
	snprintf(ret_home, size, "%s", folder);
	return setenv("LTTNG_HOME", ret_home, 1) < 0 ? -errno : 0;
}

/* The nearest folder above a path that exists, or the path itself. */
static void find_existing(char *path)
{
	char *slash;

	while (access(path, F_OK) < 0 && (slash = strrchr(path + 1, '/')))
		*slash = '\0';
}

const char *tap_session_daemon_obstacle(char *ret_why, size_t size)
{
	const char *home = geteuid() ? getenv("LTTNG_HOME") : "/var/run/lttng";
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", home ? home : "/tmp");
	find_existing(folder);
	if (!faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS))
		return NULL;
	snprintf(ret_why, size, "it cannot write to %.128s: %s", folder, strerror(errno));
	return geteuid() ? "a container needs --tmpfs /tmp" :
			   "a container needs --tmpfs /run";
}

int tap_session_choose_home(char *ret_home, size_t size)
{
	*ret_home = '\0';
	return !geteuid() || tap_session_is_reached() ? 0 : choose_home(ret_home, size);
}

/* Runs the daemon's starter in a child; returns its status, or -errno. */
static int run_starter(const char *path)
{
	const char *group = choose_group();
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		run_daemon(path, group);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int tap_session_start_daemon(const char *what_follows, char *ret_home, size_t size)
{
	const char *path = tap_place_daemon(), *remedy;
	char why[256];
	int status;

	*ret_home = '\0';
	if (tap_session_is_reached())
		return 0;
	status = choose_home(ret_home, size);
	if (status || tap_session_is_reached())
		return status;
	/* A daemon that is killed while it starts is started again. */
	for (int starts = 0; starts < STARTS; starts++) {
		status = run_starter(path);
		if (status < 0) {
			tap_message_write("cannot start %s: %s", path, strerror(-status));
			return status;
		}
		if (!WIFSIGNALED(status))
			break;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		tap_message_write("no session daemon runs, and there is no %s: install "
				  "LTTng (Debian: lttng-tools), or say in "
				  "LTTNG_SESSIOND_PATH where it is", path);
		return -ENOENT;
	}
	/* If several processes start one at once, one wins and the others fail. */
	for (int tries = 0; tries < 50; tries++) {
		if (tap_session_is_reached())
			return 0;
		sleep_ms(100);
	}
	remedy = tap_session_daemon_obstacle(why, sizeof(why));
	if (remedy)
		tap_message_write("%s cannot be started%s: %s; %s", path, what_follows,
				  why, remedy);
	else
		tap_message_write("%s cannot be started, or does not let this user in%s: "
				  "\"%s --verbose\" says why", path, what_follows, path);
	return -ECONNREFUSED;
}

/* Reads the number that LTTng's daemon writes down; `home` is ignored for root's. */
static pid_t read_pid(const char *home)
{
	char path[PATH_MAX];
	int pid = 0;
	FILE *file;

	if (!geteuid())
		snprintf(path, sizeof(path), "/var/run/lttng/lttng-sessiond.pid");
	else
		snprintf(path, sizeof(path), "%s/.lttng/lttng-sessiond.pid",
			 home ? home : "");
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	return pid;
}

/*
 * Value of a variable in a process's initial environment, which the caller frees, or
 * NULL.
 */
static char *find_variable(pid_t pid, const char *name)
{
	const size_t length = strlen(name);
	char path[64], *variable = NULL, *value = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	while (!value && getdelim(&variable, &room, '\0', file) > 0)
		if (!strncmp(variable, name, length) && variable[length] == '=')
			value = strdup(variable + length + 1);
	free(variable);
	fclose(file);
	return value;
}

/* Name and parent of a process; false when it has ended. */
static bool read_process(pid_t pid, char ret_name[16], pid_t *ret_parent)
{
	char path[64], line[512] = "", state = 'Z', *name, *after;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		*line = '\0';
	fclose(file);
	name = strchr(line, '(');
	after = strrchr(line, ')');
	if (!name || !after || sscanf(after + 1, " %c %d", &state, ret_parent) != 2)
		return false;
	snprintf(ret_name, 16, "%.*s", (int)(after - name - 1), name + 1);
	return state != 'Z' && state != 'X';
}

/*
 * A daemon of another process namespace has written down a number that is nobody's here, or
 * that of a stranger.
 */
pid_t tap_session_daemon_pid(void)
{
	const char *home = getenv("LTTNG_HOME");
	pid_t pid = read_pid(home ? home : getenv("HOME")), parent;
	char name[16];

	return pid > 0 && read_process(pid, name, &parent) &&
			       !strcmp(name, "lttng-sessiond")
		       ? pid
		       : 0;
}

static bool is_ours(pid_t pid)
{
	char *value = find_variable(pid, ours);
	bool is = value;

	free(value);
	return is;
}

pid_t tap_session_own_daemon(void)
{
	pid_t pid = tap_session_daemon_pid();

	return pid > 0 && is_ours(pid) ? pid : 0;
}

void tap_session_end_daemon(void)
{
	struct lttng_session *sessions = NULL;
	int count = ASK(lttng_list_sessions(&sessions));
	pid_t pid = tap_session_daemon_pid();
	struct pollfd ended = { .events = POLLIN };

	free(sessions);
	if (count || pid <= 0 || !is_ours(pid))
		return;
	ended.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	/*
	 * So that the next process to start a daemon does not find this one while it
	 * exits.
	 */
	if (!kill(pid, SIGTERM) && ended.fd >= 0)
		poll(&ended, 1, PATIENCE_SECONDS * 1000);
	if (ended.fd >= 0)
		close(ended.fd);
}

static bool is_in_our_namespace(pid_t pid, const char *kind)
{
	struct stat own, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	if (stat(path, &own) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, kind);
	return !stat(path, &its) && own.st_ino == its.st_ino;
}

/*
 * Whether the daemon has not written its number yet, or no longer has one. A process that
 * starts or ends a daemon holds the lock that the caller holds, so the one that did is
 * dead.
 */
static bool is_lost_daemon(pid_t pid)
{
	char *home;
	bool is;

	if (!is_in_our_namespace(pid, "pid") || !is_in_our_namespace(pid, "mnt") ||
	    !is_ours(pid))
		return false;
	home = find_variable(pid, "LTTNG_HOME");
	if (!home)
		home = find_variable(pid, "HOME");
	is = read_pid(home) != pid;
	free(home);
	return is;
}

/*
 * Whether the process is a helper whose daemon ccltap started and has ended; or such a
 * daemon.
 */
static bool is_orphan(pid_t pid)
{
	char path[64], name[16], parent_name[16];
	pid_t parent, above;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st) < 0 || st.st_uid != geteuid() ||
	    !read_process(pid, name, &parent))
		return false;
	if (!strcmp(name, "lttng-sessiond"))
		return is_lost_daemon(pid);
	if (strcmp(name, "lttng-consumerd") && strcmp(name, "lttng-runas"))
		return false;
	if (read_process(parent, parent_name, &above) &&
	    !strncmp(parent_name, "lttng-", strlen("lttng-")))
		return false;
	return is_ours(pid);
}

void tap_session_end_orphans(void)
{
	struct dirent *entry;
	DIR *processes = opendir("/proc");
	pid_t pid;

	while (processes && (entry = readdir(processes))) {
		pid = atoi(entry->d_name);
		if (pid > 0 && is_orphan(pid))
			kill(pid, SIGKILL);
	}
	if (processes)
		closedir(processes);
}

static int add_channel(struct lttng_handle *handle, const char *name, uint64_t bytes,
		       uint64_t count, const struct tap_session_plan *plan)
{
	struct lttng_channel *channel = lttng_channel_create(&handle->domain);
	int ret;

	if (!channel)
		return -LTTNG_ERR_NOMEM;
	snprintf(channel->name, sizeof(channel->name), "%s", name);
	channel->enabled = 1; /* a daemon of 2.16 makes one that is not as it is asked */
	channel->attr.overwrite = plan->is_flight;
	if (plan->is_sent && !plan->is_flight)
		channel->attr.switch_timer_interval = SENDING_US;
	channel->attr.output = LTTNG_EVENT_MMAP;
	channel->attr.subbuf_size = bytes;
	channel->attr.num_subbuf = count;
	ret = ASK(lttng_enable_channel(handle, channel));
	lttng_channel_destroy(channel);
	return ret;
}

static int add_contexts(struct lttng_handle *handle, const char *channel)
{
	static const enum lttng_event_context_type kinds[] = {
		LTTNG_EVENT_CONTEXT_VPID, LTTNG_EVENT_CONTEXT_VTID,
		LTTNG_EVENT_CONTEXT_PID_NS,
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(kinds); i++) {
		struct lttng_event_context context = { .ctx = kinds[i] };

		ret = ASK(lttng_add_context(handle, &context, NULL, channel));
	}
	return ret;
}

static int add_events(struct lttng_handle *handle, const char *channel, int level,
		      unsigned layers)
{
	struct lttng_event *event;
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(patterns); i++) {
		if (i && !(layers & 1u << (i - 1)))
			continue;
		event = lttng_event_create();
		if (!event)
			return -LTTNG_ERR_NOMEM;
		snprintf(event->name, sizeof(event->name), "%s", patterns[i]);
		event->type = LTTNG_EVENT_TRACEPOINT;
		event->loglevel_type = LTTNG_EVENT_LOGLEVEL_SINGLE;
		event->loglevel = level;
		ret = ASK(lttng_enable_event(handle, event, channel));
		lttng_event_destroy(event);
	}
	return ret;
}

/*
 * LTTng 2.15 and later write another format by default, which older readers do not know.
 * The function exists from that release on; its second argument is an enumeration.
 */
void *tap_session_format_function(void)
{
	return dlsym(RTLD_DEFAULT, "lttng_session_descriptor_set_trace_format");
}

static void ask_for_ctf_1(struct lttng_session_descriptor *descriptor)
{
	const unsigned ctf_1_8 = 1;
	int (*set_format)(struct lttng_session_descriptor *descriptor, unsigned format) =
		(int (*)(struct lttng_session_descriptor *, unsigned))
			tap_session_format_function();

	if (set_format)
		set_format(descriptor, ctf_1_8);
}

/* `to` is an absolute path, or the URL of a relay daemon for control and data. */
static struct lttng_session_descriptor *describe_session(const char *name, const char *to,
							 bool is_flight)
{
	if (*to == '/')
		return is_flight ? lttng_session_descriptor_snapshot_local_create(name, to) :
				   lttng_session_descriptor_local_create(name, to);
	return is_flight ?
		lttng_session_descriptor_snapshot_network_create(name, to, NULL) :
		lttng_session_descriptor_network_create(name, to, NULL);
}

/* Returns what LTTng does. */
static int ask_for_session(const char *name, const char *to, bool is_flight)
{
	struct lttng_session_descriptor *descriptor;
	int code;

	descriptor = describe_session(name, to, is_flight);
	if (!descriptor)
		return LTTNG_ERR_INVALID;
	ask_for_ctf_1(descriptor);
	code = ASK(lttng_create_session_ext(descriptor));
	lttng_session_descriptor_destroy(descriptor);
	return code;
}

static int make_session(const char *name, const char *to, bool is_flight)
{
	int code = ask_for_session(name, to, is_flight);

	/*
	 * The name is nobody else's: a daemon that hung has made it of a request that it
	 * had not answered.
	 */
	if (code == LTTNG_ERR_EXIST_SESS && ASK(lttng_destroy_session(name)) >= 0)
		code = ask_for_session(name, to, is_flight);
	return code == LTTNG_OK ? 0 : -code;
}

static struct lttng_handle *open_session(const char *name)
{
	struct lttng_domain domain = {
		.type = LTTNG_DOMAIN_UST,
		.buf_type = LTTNG_BUFFER_PER_UID,
	};

	return lttng_create_handle(name, &domain);
}

int tap_session_begin(const char *name, const char *to,
		      const struct tap_session_plan *plan)
{
	const struct tap_buffers *buffers = &plan->buffers;
	struct lttng_handle *handle;
	int ret;

	ret = make_session(name, to, plan->is_flight);
	if (ret)
		return ret;
	handle = open_session(name);
	if (!handle) {
		ret = -LTTNG_ERR_NOMEM;
		goto out;
	}
	/* Else LTTng sends the descriptions, without which nothing reads, at the end alone. */
	ret = plan->is_sent && !plan->is_flight ?
		add_channel(handle, "metadata", METADATA_BYTES, METADATA_COUNT, plan) : 0;
	if (!ret)
		ret = add_channel(handle, "setup", buffers->setup_bytes, buffers->setup_count,
			  plan);
	if (!ret)
		ret = add_channel(handle, "hot", buffers->hot_bytes, buffers->hot_count,
				  plan);
	for (size_t i = 0; !ret && i < ARRAY_SIZE(channels); i++) {
		ret = add_contexts(handle, channels[i].name);
		if (!ret)
			ret = add_events(handle, channels[i].name, channels[i].level,
					 plan->layers);
	}
	lttng_destroy_handle(handle);
	if (!ret && !plan->is_paused)
		ret = ASK(lttng_start_tracing(name));
out:
	if (ret < 0)
		ASK(lttng_destroy_session(name));
	return ret < 0 ? ret : 0;
}

int tap_session_start(const char *name)
{
	int ret = ASK(lttng_start_tracing(name));

	return ret < 0 && ret != -LTTNG_ERR_TRACE_ALREADY_STARTED ? ret : 0;
}

/*
 * Polls instead of blocking in one request, to tell a slow disk from a daemon that is
 * gone.
 */
int tap_session_stop(const char *name)
{
	int ret = ASK(lttng_stop_tracing_no_wait(name));

	if (ret < 0 && ret != -LTTNG_ERR_TRACE_ALREADY_STOPPED)
		return ret;
	while ((ret = ASK(lttng_data_pending(name))) > 0)
		sleep_ms(10);
	return ret;
}

/*
 * A process writes its state dump after it has answered this request, and before it reads
 * the next one. Listing its events is the only other request that changes nothing.
 */
int tap_session_regenerate_statedump(const char *name)
{
	struct lttng_handle *handle;
	struct lttng_event *events = NULL;
	int ret = ASK(lttng_regenerate_statedump(name));

	if (ret < 0)
		return ret;
	handle = open_session(name);
	if (!handle)
		return -LTTNG_ERR_NOMEM;
	ret = ASK(lttng_list_tracepoints(handle, &events));
	free(events);
	lttng_destroy_handle(handle);
	return ret < 0 ? ret : 0;
}

int tap_session_snapshot(const char *name)
{
	return ASK_FOR(SNAPSHOT_PATIENCE_SECONDS, lttng_snapshot_record(name, NULL, 0));
}

int tap_session_look(const char *name, const char *path)
{
	struct lttng_snapshot_output *output = lttng_snapshot_output_create();
	int ret = -LTTNG_ERR_NOMEM;

	if (!output)
		return ret;
	ret = lttng_snapshot_output_set_local_path(path, output);
	if (!ret)
		ret = ASK_FOR(SNAPSHOT_PATIENCE_SECONDS,
			      lttng_snapshot_record(name, output, 0));
	lttng_snapshot_output_destroy(output);
	return ret;
}

int tap_session_rotate(const char *name)
{
	enum lttng_rotation_state state = LTTNG_ROTATION_STATE_ONGOING;
	struct lttng_rotation_handle *handle = NULL;
	int ret = ASK(lttng_rotate_session(name, NULL, &handle));

	/* Already rotated since the session was stopped. */
	if (ret == -LTTNG_ERR_ROTATION_MULTIPLE_AFTER_STOP)
		return 0;
	if (ret < 0)
		return ret;
	while (ASK((int)lttng_rotation_handle_get_state(handle, &state)) ==
		       LTTNG_ROTATION_STATUS_OK &&
	       state == LTTNG_ROTATION_STATE_ONGOING)
		sleep_ms(10);
	lttng_rotation_handle_destroy(handle);
	return state == LTTNG_ROTATION_STATE_COMPLETED ? 0 : -LTTNG_ERR_UNK;
}

uint64_t tap_session_discarded(const char *name)
{
	struct lttng_handle *handle = open_session(name);
	struct lttng_channel *list = NULL;
	uint64_t one, sum = 0;
	int count;

	if (!handle)
		return 0;
	count = ASK(lttng_list_channels(handle, &list));
	for (int i = 0; i < count; i++)
		if (!lttng_channel_get_discarded_event_count(&list[i], &one))
			sum += one;
	free(list);
	lttng_destroy_handle(handle);
	return sum;
}

/*
 * A process that was killed while it wrote an event has left a hole. The daemon waits for
 * it for ever, though it answers all other requests.
 */
static int destroy(const char *name, bool *ret_has_hole)
{
	struct lttng_destruction_handle *handle;
	enum lttng_destruction_handle_status status;
	int ret;

	ret = ASK(lttng_destroy_session_ext(name, &handle));
	if (ret != LTTNG_OK)
		return -ret;
	status = ASK(lttng_destruction_handle_wait_for_completion(handle, DESTROY_MS));
	*ret_has_hole = status == LTTNG_DESTRUCTION_HANDLE_STATUS_TIMEOUT;
	lttng_destruction_handle_destroy(handle);
	return status < 0 ? -LTTNG_ERR_UNK : 0;
}

int tap_session_end(const char *name, uint64_t *ret_discarded, bool *ret_has_hole)
{
	int ret, first;

	*ret_discarded = 0;
	*ret_has_hole = false;
	first = tap_session_stop(name);
	if (first >= 0)
		*ret_discarded = tap_session_discarded(name);
	ret = destroy(name, ret_has_hole);
	return first < 0 ? first : ret;
}

/* Returns 0 when there is no session of that name. */
static int ask_made(const char *name, uint64_t *ret_made)
{
	struct lttng_session *sessions = NULL;
	int count = ASK(lttng_list_sessions(&sessions)), found = 0;

	*ret_made = 0;
	for (int i = 0; i < count; i++) {
		if (strcmp(sessions[i].name, name))
			continue;
		found = 1;
		if (lttng_session_get_creation_time(&sessions[i], ret_made) != LTTNG_OK)
			*ret_made = 0;
	}
	free(sessions);
	return found;
}

uint64_t tap_session_made(const char *name)
{
	uint64_t made;

	ask_made(name, &made);
	return made;
}

void tap_session_end_dead(const char *name, uint64_t made)
{
	uint64_t present;
	bool has_hole;

	if (!tap_session_is_reached() || !ask_made(name, &present))
		return;
	if (made ? made == present : !strncmp(name, "ccltap-", strlen("ccltap-")))
		destroy(name, &has_hole);
}

const char *tap_session_error(int error)
{
	return lttng_strerror(error);
}
