/* SPDX-License-Identifier: MIT */
/*
 * The page's matrix of what each process sent to each other, and how long that took: of
 * NCCL's messages, and of the work requests below them.
 *
 * Hides that several connections of two processes are one cell, and that the smallest of
 * very many cells are added up.
 */
#ifndef TAP_JOIN_REPORT_PAGE_TRAFFIC_H
#define TAP_JOIN_REPORT_PAGE_TRAFFIC_H

#include "join/report/report_net.h"
#include "join/report/report_work.h"

#define TAP_PAGE_PAIRS 4096

/* Adds the member "traffic".  Returns 0 or -ENOMEM. */
int tap_page_traffic_add_json(struct tap_json *json, const struct tap_report_net *net,
			      const struct tap_report_work *work);

#endif
