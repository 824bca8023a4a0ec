/* SPDX-License-Identifier: MIT */
/* An address, a socket, and what libmicrohttpd is to do with it. */
#include "tools/metrics_http.h"

#include <errno.h>
#include <string.h>

#include "tools/message.h"

#ifdef HAVE_MICROHTTPD

#include <dlfcn.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"

/* A Prometheus keeps one; others are curious, or hang. */
#define CONNECTIONS_MAX 64
/* Of silence; a Prometheus that comes later connects again. */
#define PATIENCE_S 5

struct address {
	char host[256], port[8];
};

/* ---- The library ---- */

/* Its functions, without the MHD_ of their names. */
static struct {
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
	__typeof__(MHD_destroy_response) *destroy_response;
	__typeof__(MHD_get_daemon_info) *get_daemon_info;
	__typeof__(MHD_get_timeout) *get_timeout;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_run) *run;
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
} mhd;

#define FIND(function) \
	(mhd.function = (__typeof__(mhd.function)) dlsym(library, "MHD_" #function))

/*
 * It is opened and not linked: it brings GnuTLS, which takes longer to start than all of
 * ccltap.  It stays open.
 */
static bool load(void)
{
	void *library = dlopen(TAP_METRICS_HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	return library && FIND(add_response_header) &&
	       FIND(create_response_from_buffer) && FIND(destroy_response) &&
	       FIND(get_daemon_info) && FIND(get_timeout) && FIND(queue_response) &&
	       FIND(run) && FIND(start_daemon) && FIND(stop_daemon);
}

/* ---- The address ---- */

/* Reads [ADDRESS:]PORT, an address of IPv6 in brackets. Returns false: it is none. */
static bool parse(const char *text, struct address *ret_address)
{
	const bool is_bracketed = *text == '[';
	const char *host = text + is_bracketed, *port = strrchr(text, ':');
	size_t length = port ? (size_t) (port - host) : 0;

	if (is_bracketed) {
		if (length < 2 || port[-1] != ']')
			return false;
		length--;
	} else if (memchr(host, ':', length)) {
		return false;
	}
	port = port ? port + 1 : text;
	if (length >= sizeof(ret_address->host) ||
	    strlen(port) >= sizeof(ret_address->port) || !*port ||
	    port[strspn(port, "0123456789")] || atoi(port) > 65535)
		return false;
	snprintf(ret_address->host, sizeof(ret_address->host), "%.*s", (int) length,
		 host);
	if (!length)
		snprintf(ret_address->host, sizeof(ret_address->host), "127.0.0.1");
	snprintf(ret_address->port, sizeof(ret_address->port), "%s", port);
	return true;
}

int tap_metrics_http_check(const char *listen)
{
	struct address address;

	if (parse(listen, &address))
		return 0;
	tap_message_write(
		"address \"%s\": give a port, such as 9400, or an address and a "
		"port, such as 0.0.0.0:9400 or [::1]:9400",
		listen);
	return -EINVAL;
}

/* ---- The socket ---- */

/* Returns a socket or -errno. */
static int listen_at(const struct addrinfo *address)
{
	int ret, fd = socket(address->ai_family,
			     SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* The port of a recording that ended a moment ago may be used again. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (!bind(fd, address->ai_addr, address->ai_addrlen) && !listen(fd, SOMAXCONN))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* Returns a socket, or -1 and in *ret_why the reason, which stays valid. */
static int open_socket(const struct address *address, const char **ret_why)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_PASSIVE};
	struct addrinfo *all, *one;
	int ret, fd = -ENOENT;

	ret = getaddrinfo(address->host, address->port, &hints, &all);
	if (ret) {
		*ret_why = gai_strerror(ret);
		return -1;
	}
	for (one = all; one && fd < 0; one = one->ai_next)
		fd = listen_at(one);
	freeaddrinfo(all);
	if (fd < 0)
		*ret_why = strerror(-fd);
	return fd < 0 ? -1 : fd;
}

/* The port may have been 0, for any that is free. */
static void name_url(struct tap_metrics_http *http, int fd)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	char host[64], port[8];

	*http->url = '\0';
	if (getsockname(fd, (struct sockaddr *) &address, &length) ||
	    getnameinfo((struct sockaddr *) &address, length, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	snprintf(http->url, sizeof(http->url),
		 address.ss_family == AF_INET6 ? "http://[%s]:%s/metrics"
					       : "http://%s:%s/metrics",
		 host, port);
}

/* ---- Answers ---- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status,
			      const char *text, size_t size, const char *header,
			      const char *value)
{
	struct MHD_Response *response =
		mhd.create_response_from_buffer(size, (void *) text,
						MHD_RESPMEM_MUST_COPY);
	enum MHD_Result ret = MHD_NO;

	if (!response)
		return MHD_NO;
	if (mhd.add_response_header(response, header, value) == MHD_YES)
		ret = mhd.queue_response(connection, status, response);
	mhd.destroy_response(response);
	return ret;
}

static enum MHD_Result handle(void *data, struct MHD_Connection *connection,
			      const char *path, const char *method, const char *version,
			      const char *upload, size_t *upload_size, void **request)
{
	static const char plain[] = "text/plain; charset=utf-8";
	const struct tap_metrics_http *http = data;
	const char *text;
	size_t size;

	(void) version;
	(void) upload;
	(void) upload_size;
	(void) request;
	if (strcmp(path, "/metrics") != 0) {
		text = "The metrics are at /metrics.\n";
		return answer(connection, MHD_HTTP_NOT_FOUND, text, strlen(text),
			      MHD_HTTP_HEADER_CONTENT_TYPE, plain);
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "", 0,
			      MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (tap_metrics_text(http->metrics, &text, &size))
		return answer(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "", 0,
			      MHD_HTTP_HEADER_CONTENT_TYPE, plain);
	return answer(connection, MHD_HTTP_OK, text, size, MHD_HTTP_HEADER_CONTENT_TYPE,
		      "text/plain; version=0.0.4; charset=utf-8");
}

/* ---- The server ---- */

int tap_metrics_http_open(struct tap_metrics_http *http, const char *listen,
			  struct tap_metrics *metrics)
{
	const union MHD_DaemonInfo *info = NULL;
	struct address address;
	const char *why;
	int fd;

	if (!parse(listen, &address))
		return -EINVAL;
	if (!load()) {
		tap_message_write("--metrics-listen needs libmicrohttpd: %s; install it "
				  "(Debian: libmicrohttpd12)",
				  dlerror());
		return -ENOSYS;
	}
	fd = open_socket(&address, &why);
	if (fd < 0) {
		tap_message_write("cannot listen on %s port %s for the metrics: %s; give "
				  "another address with --metrics-listen",
				  address.host, address.port, why);
		return -EADDRNOTAVAIL;
	}
	name_url(http, fd);
	http->metrics = metrics;
	http->daemon =
		mhd.start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, http,
				 MHD_OPTION_LISTEN_SOCKET, fd,
				 MHD_OPTION_CONNECTION_LIMIT, (unsigned) CONNECTIONS_MAX,
				 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned) PATIENCE_S,
				 MHD_OPTION_END);
	if (http->daemon)
		info = mhd.get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (info) {
		http->fd = info->epoll_fd;
		return 0;
	}
	tap_message_write("libmicrohttpd cannot serve the metrics");
	if (http->daemon)
		tap_metrics_http_close(http);
	else
		close(fd);
	return -EIO;
}

int64_t tap_metrics_http_due_ms(const struct tap_metrics_http *http)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (!http->daemon || mhd.get_timeout(http->daemon, &ms) != MHD_YES)
		return INT64_MAX;
	return tap_now_ms() + (int64_t) ms;
}

void tap_metrics_http_serve(struct tap_metrics_http *http)
{
	if (http->daemon)
		mhd.run(http->daemon);
}

void tap_metrics_http_close(struct tap_metrics_http *http)
{
	if (http->daemon)
		mhd.stop_daemon(http->daemon);
	http->daemon = NULL;
}

#else

int tap_metrics_http_check(const char *listen)
{
	(void) listen;
	tap_message_write(
		"--metrics-listen: this ccltap was built without libmicrohttpd: "
		"install that (Debian: libmicrohttpd-dev) and build ccltap again");
	return -ENOSYS;
}

int tap_metrics_http_open(struct tap_metrics_http *http, const char *listen,
			  struct tap_metrics *metrics)
{
	(void) http;
	(void) metrics;
	return tap_metrics_http_check(listen);
}

int64_t tap_metrics_http_due_ms(const struct tap_metrics_http *http)
{
	(void) http;
	return INT64_MAX;
}

void tap_metrics_http_serve(struct tap_metrics_http *http)
{
	(void) http;
}

void tap_metrics_http_close(struct tap_metrics_http *http)
{
	(void) http;
}

#endif
