/* SPDX-License-Identifier: MIT */
/*
 * The fields of a Perfetto trace that we write, with the numbers and names of Perfetto's
 * public definitions (https://perfetto.dev, Apache-2.0): protos/perfetto/trace/
 * trace_packet.proto, clock_snapshot.proto, interned_data/interned_data.proto and
 * track_event/{track_event,track_descriptor,counter_descriptor,debug_annotation}.proto.
 * Numbers never change there: old traces must be readable.  A test gives what we write to
 * Perfetto's own importer.
 */
#ifndef TAP_JOIN_VIEWS_PERFETTO_PROTO_H
#define TAP_JOIN_VIEWS_PERFETTO_PROTO_H

enum { TRACE_PACKET = 1 };

enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
};

/* Of PACKET_SEQUENCE_FLAGS. */
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 };

enum { SNAPSHOT_CLOCK = 1 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
/* Of CLOCK_ID. */
enum { CLOCK_REALTIME = 1, CLOCK_BOOT = 6 };

enum {
	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_ANNOTATION_NAME = 3,
	INTERNED_ANNOTATION_STRING = 29,
};
/* Of each of them. */
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };

enum {
	EVENT_CATEGORY_IID = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOW = 47,
	EVENT_LAST_FLOW = 48,
};
/* Of EVENT_TYPE. */
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

enum {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UNSIGNED = 3,
	ANNOTATION_SIGNED = 4,
	ANNOTATION_REAL = 5,
	ANNOTATION_TEXT = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_ELEMENT = 12,
	ANNOTATION_TEXT_IID = 17,
};

enum {
	TRACK_ID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_CHILD_ORDER = 11,
	TRACK_RANK_AMONG_SIBLINGS = 12,
	TRACK_MERGE = 15,
};
/* Of TRACK_CHILD_ORDER and TRACK_MERGE. */
enum { ORDER_EXPLICIT = 3 };
enum { MERGE_BY_NAME = 1, MERGE_NONE = 2 };

enum { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6 };
/* Of COUNTER_UNIT. */
enum { UNIT_NS = 1, UNIT_COUNT = 2, UNIT_BYTES = 3 };

#endif
