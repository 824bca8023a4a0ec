/* SPDX-License-Identifier: MIT */
/*
 * The report's part about connections of NCCL's: for each process and transport how many
 * there are, whether what passes over them can be seen, and of how many the channel is
 * known; and which library NCCL has loaded for its network.
 *
 * Hides how connections become these sums.
 */
#ifndef TAP_JOIN_REPORT_REPORT_TRANSPORTS_H
#define TAP_JOIN_REPORT_REPORT_TRANSPORTS_H

#include "join/base/json.h"
#include "join/model/nccl_connection.h"
#include "join/report/rows.h"

/* All zero is empty. */
struct tap_report_transports {
	struct tap_rows transports; /* by (process, transport) */
	struct tap_rows plugins;    /* by (process, library) */
};

/* Each returns 0 or -ENOMEM. */
int tap_report_transports_add(struct tap_report_transports *report,
			      const struct tap_nccl_connection *connection);
/* Ignores libraries that are not NCCL's network plugins. */
int tap_report_transports_library(struct tap_report_transports *report,
				  const struct tap_process *process,
				  const struct tap_library *library);

/* Sorts the tables, once, before they are written. */
void tap_report_transports_sort(struct tap_report_transports *report);
void tap_report_transports_text(const struct tap_report_transports *report,
				struct tap_buffer *line);
/* "transports":[...],"network_plugins":[...] */
void tap_report_transports_json(const struct tap_report_transports *report,
				struct tap_json *json);

void tap_report_transports_free(struct tap_report_transports *report);

#endif
