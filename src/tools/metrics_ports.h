/* SPDX-License-Identifier: MIT */
/*
 * The metrics of the ports of the devices that processes use. Hides that the supervisor
 * reads them itself, from sysfs: a process that is only counted has no thread that could,
 * and they are the host's, not the process's.
 */
#ifndef TAP_TOOLS_METRICS_PORTS_H
#define TAP_TOOLS_METRICS_PORTS_H

#include "tools/metrics_text.h"

/*
 * Writes the counters of all ports of these processes' devices, as they were at most 5 s
 * ago; recording: labels that each has.  Where they are long in answering, three times in a row, none of them is read, nor
 * written, for a minute, and a gauge says so.  Returns 0 or -ENOMEM.
 */
int tap_metrics_ports_write(FILE *out, struct tap_metrics_process *const *processes,
			    size_t count, const char *recording, int64_t now_ms);

#endif
