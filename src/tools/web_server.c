/* SPDX-License-Identifier: MIT */
/* A process for each connection, which has one request: a browser opens a few at once. */
#include "tools/web_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/compiler.h"

#define REQUEST_SIZE 16384
#define PATH_SIZE 1024
/* Of silence; a browser opens connections before it knows what for. */
#define PATIENCE_S 60
/* At a time; a browser has half a dozen. */
#define CONNECTIONS_MAX 64

/* Nothing from elsewhere, and nothing to there: Perfetto's page would ask a host of its
 * own. */
#define POLICY \
	"default-src 'self' blob: data: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'"

static volatile sig_atomic_t is_over;

/* The processes of connections; 0: none. */
static pid_t processes[CONNECTIONS_MAX];

static void end(int signal)
{
	(void) signal;
	is_over = 1;
}

/* Lets the waiting for connections see what ended. */
static void wake(int signal)
{
	(void) signal;
}

/* ---- An answer ---- */

static void write_all(int to, const char *text, size_t length)
{
	ssize_t written;

	for (; length; text += written, length -= (size_t) written) {
		written = send(to, text, length, MSG_NOSIGNAL);
		if (written <= 0)
			return;
	}
}

static void refuse(int to, const char *status)
{
	char text[256];
	const int length = snprintf(text, sizeof(text),
				    "HTTP/1.1 %s\r\nContent-Length: 0\r\n"
				    "Connection: close\r\n\r\n",
				    status);

	write_all(to, text, (size_t) length);
}

/* What a browser must know: it compiles no WebAssembly of another type. */
static const char *type_of(const char *path)
{
	static const struct {
		const char *suffix, *type;
	} types[] = {
		{".html", "text/html; charset=utf-8"},
		{".js", "text/javascript"},
		{".css", "text/css"},
		{".json", "application/json"},
		{".wasm", "application/wasm"},
		{".png", "image/png"},
		{".svg", "image/svg+xml"},
		{".woff2", "font/woff2"},
	};
	const char *suffix = strrchr(path, '.');
	size_t i;

	for (i = 0; suffix && i < ARRAY_SIZE(types); i++)
		if (!strcmp(suffix, types[i].suffix))
			return types[i].type;
	return "application/octet-stream";
}

static void send_file(int to, int file, const char *path, bool is_head)
{
	char head[512];
	struct stat status;
	off_t at = 0;
	int length;

	if (fstat(file, &status) || !S_ISREG(status.st_mode)) {
		refuse(to, "404 Not Found");
		return;
	}
	length = snprintf(head, sizeof(head),
			  "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %jd\r\n"
			  "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
			  "Content-Security-Policy: " POLICY "\r\n"
			  "Connection: close\r\n\r\n",
			  type_of(path), (intmax_t) status.st_size);
	write_all(to, head, (size_t) length);
	while (!is_head && at < status.st_size)
		if (sendfile(to, file, &at, (size_t) (status.st_size - at)) <= 0)
			return;
}

/* ---- A request ---- */

/* Reads as far as the empty line.  Returns false when there is none. */
static bool read_request(int from, char request[REQUEST_SIZE])
{
	size_t used = 0;
	ssize_t length;

	while (used < REQUEST_SIZE - 1) {
		length = recv(from, request + used, REQUEST_SIZE - 1 - used, 0);
		if (length <= 0)
			return false;
		used += (size_t) length;
		request[used] = '\0';
		if (strlen(request) != used)
			return false;
		if (strstr(request, "\r\n\r\n"))
			return true;
	}
	return false;
}

/*
 * A page of the web may have a name that leads to this machine, but not one of these:
 * whoever asks by one of them has its address.
 */
static bool is_for_this_machine(const char *request)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
	const char *at = strstr(request, "\r\n");
	size_t i, length;

	for (; at; at = strstr(at, "\r\n")) {
		at += strlen("\r\n");
		if (strncasecmp(at, "Host:", strlen("Host:")) != 0)
			continue;
		at += strlen("Host:");
		at += strspn(at, " \t");
		for (i = 0; i < ARRAY_SIZE(names); i++) {
			length = strlen(names[i]);
			if (!strncasecmp(at, names[i], length) &&
			    strchr(":\r", at[length]))
				return true;
		}
		return false;
	}
	return false;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes the path of "GET /path?query HTTP/1.1" without its %XX.  Returns false: none. */
static bool take_path(const char *at, char path[PATH_SIZE])
{
	size_t used = 0;

	for (; *at && !strchr(" ?\r\n", *at) && used < PATH_SIZE - 1; at++) {
		path[used] = *at;
		if (*at == '%') {
			if (digit_of(at[1]) < 0 || digit_of(at[2]) < 0)
				return false;
			path[used] = (char) (digit_of(at[1]) * 16 + digit_of(at[2]));
			at += 2;
			if (!path[used])
				return false;
		}
		used++;
	}
	path[used] = '\0';
	return *path == '/' && strchr(" ?", *at);
}

/* Neither the folder above, nor what is hidden, nor something absolute. */
static bool is_inside(const char *path)
{
	const char *at;

	for (at = path; at; at = strchr(at + 1, '/'))
		if (at[1] == '.' || at[1] == '/')
			return false;
	return true;
}

static void answer_path(const struct tap_web_server *server, int to, const char *path,
			bool is_head)
{
	char own[PATH_SIZE];
	int file;

	snprintf(own, sizeof(own), "/%s/%s", server->secret, server->file_name);
	if (!strcmp(path, own)) {
		if (server->way)
			unlink(server->way);
		send_file(to, server->file, path, is_head);
		return;
	}
	if (!strcmp(path, "/"))
		path = "/index.html";
	file = is_inside(path) ? openat(server->folder, path + 1, O_RDONLY | O_NONBLOCK)
			       : -1;
	if (file < 0) {
		refuse(to, "404 Not Found");
		return;
	}
	send_file(to, file, path, is_head);
}

static void answer(const struct tap_web_server *server, int connection)
{
	char request[REQUEST_SIZE], path[PATH_SIZE];
	bool is_read, is_head;

	/* All of it in this time: with a byte now and then, one could stay forever. */
	alarm(PATIENCE_S);
	is_read = read_request(connection, request);
	alarm(0);
	if (!is_read)
		return;
	is_head = !strncmp(request, "HEAD ", strlen("HEAD "));
	if (!is_head && strncmp(request, "GET ", strlen("GET ")) != 0)
		refuse(connection, "405 Method Not Allowed");
	else if (!is_for_this_machine(request))
		refuse(connection, "403 Forbidden");
	else if (!take_path(strchr(request, ' ') + 1, path))
		refuse(connection, "400 Bad Request");
	else
		answer_path(server, connection, path, is_head);
}

/* ---- The server ---- */

static int make_secret(struct tap_web_server *server)
{
	unsigned char bytes[TAP_WEB_SECRET / 2];
	size_t i;

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes))
		return errno ? -errno : -EIO;
	for (i = 0; i < sizeof(bytes); i++)
		snprintf(server->secret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

int tap_web_server_open(struct tap_web_server *server, unsigned int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t) port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	const int on = 1;
	int ret = make_secret(server);

	if (ret)
		return ret;
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->listener < 0)
		return -errno;
	/* A port that was used a moment ago may be used again. */
	setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(server->listener, (struct sockaddr *) &address, sizeof(address)) ||
	    listen(server->listener, SOMAXCONN) ||
	    getsockname(server->listener, (struct sockaddr *) &address, &length)) {
		ret = -errno;
		close(server->listener);
		return ret;
	}
	server->port = ntohs(address.sin_port);
	return 0;
}

/* The browser's first process is a child, too, and has no place. */
static void reap(void)
{
	pid_t pid;
	size_t i;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (i = 0; i < CONNECTIONS_MAX; i++)
			if (processes[i] == pid)
				processes[i] = 0;
}

static void take_connection(const struct tap_web_server *server)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	const int connection = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
	size_t place = 0;
	pid_t pid;

	if (connection < 0)
		return;
	while (place < CONNECTIONS_MAX && processes[place])
		place++;
	if (place == CONNECTIONS_MAX) {
		close(connection);
		return;
	}
	pid = fork();
	if (pid > 0)
		processes[place] = pid;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		signal(SIGCHLD, SIG_DFL);
		signal(SIGALRM, SIG_DFL);
		sigprocmask(SIG_SETMASK, &(sigset_t){0}, NULL);
		setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience,
			   sizeof(patience));
		setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience,
			   sizeof(patience));
		close(server->listener);
		answer(server, connection);
		_exit(0);
	}
	close(connection);
}

/* Under nohup, or behind a shell, some signals are to end nothing. */
static void end_by(int signal)
{
	const struct sigaction ends = {.sa_handler = end};
	struct sigaction before;

	if (!sigaction(signal, NULL, &before) && before.sa_handler == SIG_IGN)
		return;
	sigaction(signal, &ends, NULL);
}

int tap_web_server_run(struct tap_web_server *server)
{
	struct pollfd poll = {.fd = server->listener, .events = POLLIN};
	const struct sigaction wakes = {.sa_handler = wake};
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGHUP);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	end_by(SIGINT);
	end_by(SIGTERM);
	end_by(SIGHUP);
	sigaction(SIGCHLD, &wakes, NULL);
	while (!is_over) {
		reap();
		if (ppoll(&poll, 1, NULL, &before) > 0)
			take_connection(server);
		else if (errno != EINTR)
			return -errno;
	}
	close(server->listener);
	return 0;
}
