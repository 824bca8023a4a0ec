/* SPDX-License-Identifier: MIT */
/*
 * The metrics of the devices of libibverbs. Hides that a device's counters are those of
 * its queues, which have room of their own or share one.
 */
#ifndef TAP_TOOLS_METRICS_DEVICES_H
#define TAP_TOOLS_METRICS_DEVICES_H

#include "tools/metrics_text.h"

/* Adds all but the name. */
void tap_metrics_device_add(struct tap_metrics_device *to,
			    const struct tap_metrics_device *from);

/* The first page->devices_used elements get the devices with the counts of all queues. */
void tap_metrics_devices_of(const struct tap_metrics_page *page,
			    struct tap_metrics_device ret_devices[TAP_METRICS_DEVICES]);

/*
 * Writes the metrics of all of these processes' devices; recording: labels that each has.
 * Returns 0 or -ENOMEM.
 */
int tap_metrics_devices_write(FILE *out, struct tap_metrics_process *const *processes,
			      size_t count, const char *recording);

#endif
