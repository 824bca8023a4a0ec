/* SPDX-License-Identifier: MIT */
/*
 * Records of other programs in a file of the Trace Event Format, between ours.
 *
 * Hides how a record says its track and its time.
 */
#ifndef TAP_JOIN_VIEWS_PERFETTO_FORM_JSON_H
#define TAP_JOIN_VIEWS_PERFETTO_FORM_JSON_H

#include "join/views/perfetto_packet.h"

/* Each adds to the record that is open in packets->json. */
void tap_form_json_track(struct tap_packets *packets, uint64_t track);
void tap_form_json_time(struct tap_packets *packets, int64_t time_ns);

/* Completes the record, and writes it.  Returns 0 or -errno. */
int tap_form_json_record(struct tap_packets *packets);

#endif
