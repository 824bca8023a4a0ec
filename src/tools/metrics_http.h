/* SPDX-License-Identifier: MIT */
/*
 * `record --metrics-listen`: the text of the counters at http://ADDRESS:PORT/metrics.
 *
 * Hides libmicrohttpd, that it is opened only here, and that this may be built without
 * it. It has no thread: its one descriptor is polled by the supervisor, to which a client
 * that says nothing, or reads nothing, is a connection that times out.
 */
#ifndef TAP_TOOLS_METRICS_HTTP_H
#define TAP_TOOLS_METRICS_HTTP_H

#include <stdint.h>

#include "tools/metrics.h"

/* What is opened; the version is that of its binary interface since 2015. */
#define TAP_METRICS_HTTP_LIBRARY "libmicrohttpd.so.12"

struct MHD_Daemon;

/* All zero: nothing is served. */
struct tap_metrics_http {
	struct MHD_Daemon *daemon;
	struct tap_metrics *metrics;
	int fd; /* readable when there is something to do */
	char url[128];
};

/* Returns 0, or -errno after a message when this is no [ADDRESS:]PORT, or is not built.
 */
int tap_metrics_http_check(const char *listen);

/* Listens there. Returns 0, or -errno after a message; then nothing is served. */
int tap_metrics_http_open(struct tap_metrics_http *http, const char *listen,
			  struct tap_metrics *metrics);

/* When there is something to do even if fd is not readable, in ms of CLOCK_MONOTONIC. */
int64_t tap_metrics_http_due_ms(const struct tap_metrics_http *http);
/* Does what there is to do, without waiting. */
void tap_metrics_http_serve(struct tap_metrics_http *http);

void tap_metrics_http_close(struct tap_metrics_http *http);

#endif
