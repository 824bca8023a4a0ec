/* SPDX-License-Identifier: MIT */
/*
 * Prometheus' text exposition of counters of processes. Hides names, units and labels of
 * the metrics, and which counters add up to one of their series.
 */
#ifndef TAP_TOOLS_METRICS_TEXT_H
#define TAP_TOOLS_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/metrics_page.h"

/* A call that is open: since when it was seen so. */
struct tap_metrics_open {
	uint64_t life, begun;
	unsigned row;
	int64_t since_ms; /* 0: none is */
};

/* What processes with the same labels had counted when they went: no sum falls. */
struct tap_metrics_before {
	struct tap_metrics_slot of[TAP_METRICS_FUNCTIONS];
	bool is_operation[TAP_METRICS_FUNCTIONS];
	uint64_t dropped, proxy_yields, kernels, kernel_ns;
	struct tap_metrics_device devices[TAP_METRICS_DEVICES];
	unsigned nr_devices;
};

struct tap_metrics_process {
	int fd;
	struct tap_metrics_page *page; /* a copy */
	int64_t ended_ms;	       /* 0: it has not */
	bool is_torn; /* the page's room was changing hands whenever it was read last */
	/* On each communicator, and of the functions in page->shared. */
	struct tap_metrics_open open[TAP_METRICS_COMMS];
	struct tap_metrics_open open_shared[TAP_METRICS_FUNCTIONS];
	struct tap_metrics_before before;
};

/*
 * Writes all of these; recording: labels that each series has, "" none; refused: how many
 * more could not be read. Returns 0 or -errno.
 */
int tap_metrics_text_write(FILE *out, struct tap_metrics_process *const *processes,
			   size_t count, const char *recording, unsigned refused,
			   int64_t now_ms);

#endif
