/* SPDX-License-Identifier: MIT */
/* The names and losses of the context, which no layer owns. */
#include "join/model/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Once so many names exist, no new name that a program reports is added. */
#define NAMES_REPORTED_MAX 4096

const struct tap_name *tap_context_name_reported(struct tap_context *context,
						 const struct tap_name *other,
						 const char *name, size_t name_length)
{
	const char *layer = other->layer;
	const struct tap_name *found =
		tap_names_find(&context->names, layer, strlen(layer), name, name_length);

	if (found)
		return found;
	if (context->names.count >= NAMES_REPORTED_MAX)
		return other;
	return tap_names_get(&context->names, layer, strlen(layer), name, name_length);
}

void tap_count_match(struct tap_context *context, enum tap_match_kind kind,
		     enum tap_known known, enum tap_why why)
{
	struct tap_matches *matches = &context->matches[kind];

	if (known == TAP_KNOWN_EXACT) {
		matches->exact++;
	} else if (known == TAP_KNOWN_DECODED) {
		matches->decoded++;
	} else {
		matches->inferred++;
		matches->why[why]++;
	}
}

void tap_count_unmatched(struct tap_context *context, enum tap_match_kind kind,
			 enum tap_why why)
{
	context->matches[kind].unmatched++;
	context->matches[kind].why[why]++;
}

int tap_loss_discarded(struct tap_loss *loss, const char *name, uint64_t events,
		       uint64_t packets)
{
	struct tap_stream_loss *stream;

	loss->discarded_events += events;
	loss->discarded_packets += packets;
	for (stream = loss->streams; stream; stream = stream->next)
		if (!strcmp(stream->name, name))
			break;
	if (!stream) {
		stream = calloc(1, sizeof(*stream));
		if (!stream)
			return -ENOMEM;
		stream->name = strdup(name);
		if (!stream->name) {
			free(stream);
			return -ENOMEM;
		}
		stream->next = loss->streams;
		loss->streams = stream;
	}
	stream->discarded_events += events;
	stream->discarded_packets += packets;
	return 0;
}

void tap_loss_forget_streams(struct tap_loss *loss, uint64_t damaged_streams)
{
	struct tap_stream_loss *stream;

	while ((stream = loss->streams)) {
		loss->streams = stream->next;
		free(stream->name);
		free(stream);
	}
	free(loss->first_damage);
	loss->first_damage = NULL;
	loss->discarded_events = 0;
	loss->discarded_packets = 0;
	loss->discarded_unknown = 0;
	loss->damaged_streams -= damaged_streams;
}

void tap_context_free(struct tap_context *context)
{
	tap_loss_forget_streams(&context->loss, 0);
	free(context->jobs);
	free(context->snapshots);
	tap_names_free(&context->names);
	tap_traces_free(&context->traces);
	tap_clocks_free(&context->clocks);
}
