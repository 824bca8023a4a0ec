/* SPDX-License-Identifier: MIT */
/*
 * Events that are written in one piece.
 *
 * LTTng's macros write an event field by field, some 4 ns each.  Here the same named
 * fields are described to LTTng by its public interface (lttng/ust-events.h), each
 * aligned to a byte, and one packed record holds them all and is written at once.  One
 * probe serves every such event, and a row of fields (verbs_events.h) makes both the
 * record and its description.  Arrays of the same length follow the record, in the row's
 * order, without padding.
 *
 * It hides what else the macros do: filters and notifiers.
 */
#ifndef TAP_TRACEPOINTS_PACKED_H
#define TAP_TRACEPOINTS_PACKED_H

#include <stddef.h>

#include <lttng/ust-events.h>

#include "common/compiler.h"

/* The parameters of the tracepoint of each packed event, and its signature. */
#define TAP_PACKED_ARGS \
	LTTNG_UST_TP_ARGS(const struct lttng_ust_tracepoint_class *, class, \
			  const void *, record, size_t, length)
#define TAP_PACKED_SIGNATURE \
	"const struct lttng_ust_tracepoint_class *, class, const void *, record, size_t, length"

/* The room of a filter's stack: no event has more fields. */
#define TAP_PACKED_FIELDS_MAX 32

void tap_packed_probe(void *data, const struct lttng_ust_tracepoint_class *class,
		      const void *record, size_t length) tap_hidden;

/* clang-format off */
#define TAP_PACKED_TYPE(t, shown) \
	((const struct lttng_ust_type_common *) &(const struct lttng_ust_type_integer) { \
		.parent = {.type = lttng_ust_type_integer}, \
		.struct_size = sizeof(struct lttng_ust_type_integer), \
		.size = sizeof(t) * 8, .alignment = 8, \
		.signedness = (t) -1 < (t) 1, .base = shown })

#define TAP_PACKED_INT(t, n, shown) \
	&(const struct lttng_ust_event_field) { \
		.struct_size = sizeof(struct lttng_ust_event_field), .name = #n, \
		.type = TAP_PACKED_TYPE(t, shown) },
#define TAP_PACKED_SEQ(t, n, of, shown) \
	&(const struct lttng_ust_event_field) { \
		.struct_size = sizeof(struct lttng_ust_event_field), .name = #n, \
		.type = (const struct lttng_ust_type_common *) \
			&(const struct lttng_ust_type_sequence) { \
				.parent = {.type = lttng_ust_type_sequence}, \
				.struct_size = sizeof(struct lttng_ust_type_sequence), \
				.length_name = #of, .elem_type = TAP_PACKED_TYPE(t, shown), \
				.encoding = lttng_ust_string_encoding_none } },

#define TAP_PACKED_BYTES(type, name, base) + sizeof(type)

/*
 * Defines `event`_desc, the description of an event with these fields, whose record is
 * struct `record` of this many bytes.  Does not compile if record and fields differ.
 */
#define TAP_PACKED_FIELDS(event, record, provider, level, bytes, ...) \
	_Static_assert(sizeof(struct record) == (bytes), \
		       #record " holds other fields than its row describes"); \
	static const struct lttng_ust_event_field *const event##_fields[] = { __VA_ARGS__ }; \
	_Static_assert(ARRAY_SIZE(event##_fields) <= TAP_PACKED_FIELDS_MAX, \
		       #event " has more fields than a filter has room for"); \
	static const struct lttng_ust_tracepoint_class event##_class = { \
		.struct_size = sizeof(struct lttng_ust_tracepoint_class), \
		.fields = event##_fields, .nr_fields = ARRAY_SIZE(event##_fields), \
		.probe_callback = (void (*)(void)) tap_packed_probe, \
		.signature = TAP_PACKED_SIGNATURE, .probe_desc = &provider }; \
	static const struct lttng_ust_event_desc event##_desc = { \
		.struct_size = sizeof(struct lttng_ust_event_desc), \
		.event_name = #event, .probe_desc = &provider, \
		.tp_class = &event##_class, .loglevel = level };

/* The same from ROW(INT, SEQ). */
#define TAP_PACKED_EVENT(event, record, ROW, provider, level) \
	TAP_PACKED_FIELDS(event, record, provider, level, \
		0 ROW(TAP_PACKED_BYTES, TAP_ROW_NO_SEQ), ROW(TAP_PACKED_INT, TAP_PACKED_SEQ))
/*
 * Defines `provider`, which is declared before, with the descriptions in `events`, and
 * registers it.  If LTTng refuses, the events are not recorded.  The handle that LTTng
 * returns serves only to unregister.
 */
#define TAP_PACKED_PROVIDER(its_name) \
	static const struct lttng_ust_probe_desc provider = { \
		.struct_size = sizeof(provider), .provider_name = #its_name, \
		.event_desc = events, .nr_events = ARRAY_SIZE(events), \
		.major = LTTNG_UST_PROVIDER_MAJOR, .minor = LTTNG_UST_PROVIDER_MINOR }; \
	__attribute__((constructor)) static void register_provider(void) \
	{ \
		(void) lttng_ust_probe_register(&provider); \
	}
/* clang-format on */

#endif
