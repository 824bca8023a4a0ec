/* SPDX-License-Identifier: MIT */
/* Sums by transport. */
#include "join/report/check_connections.h"

#include "join/model/link.h"

void tap_check_connections_add(struct tap_check_connections *connections,
			       const struct tap_nccl_connection *connection)
{
	struct tap_transport_ends *sum = &connections->of[connection->transport];

	sum->ends++;
	if (connection->channel >= 0)
		sum->known[connection->known]++;
	else if (connection->why)
		sum->whys[connection->why]++;
}

static void add_count(struct tap_buffer *line, const char *before, uint64_t count)
{
	tap_buffer_add_string(line, before);
	tap_buffer_add_char(line, ' ');
	tap_buffer_add_unsigned(line, count);
}

/* " of 6 decoded, of 1 inferred, of 2 unknown (ambiguous 1)" */
static void add_channels(struct tap_buffer *line, const struct tap_transport_ends *sum)
{
	uint64_t unknown = sum->ends;
	const char *separator = " (";
	enum tap_known known;
	enum tap_why why;

	for (known = 0; known <= TAP_KNOWN_INFERRED; known++) {
		unknown -= sum->known[known];
		if (!sum->known[known])
			continue;
		add_count(line, " of", sum->known[known]);
		tap_buffer_add_char(line, ' ');
		tap_buffer_add_string(line, tap_known_name(known));
		tap_buffer_add_char(line, ',');
	}
	if (!unknown) {
		line->used--;
		return;
	}
	add_count(line, " of", unknown);
	tap_buffer_add_string(line, " unknown");
	for (why = 0; why < TAP_WHY_COUNT; why++) {
		if (!sum->whys[why])
			continue;
		tap_buffer_add_string(line, separator);
		add_count(line, tap_why_name(why), sum->whys[why]);
		separator = ", ";
	}
	if (*separator == ',')
		tap_buffer_add_char(line, ')');
}

void tap_check_connections_text(const struct tap_check_connections *connections,
				struct tap_buffer *line)
{
	enum tap_nccl_transport transport;

	for (transport = 0; transport < TAP_TRANSPORTS; transport++) {
		const struct tap_transport_ends *sum = &connections->of[transport];

		if (!sum->ends)
			continue;
		tap_buffer_add_string(line, "connections: ");
		tap_buffer_add_string(line, tap_nccl_transport_name(transport));
		add_count(line, ":", sum->ends);
		if (tap_nccl_transport_is_seen(transport)) {
			tap_buffer_add_string(line, ", the channel");
			add_channels(line, sum);
		} else {
			tap_buffer_add_string(line, ", whose traffic cannot be seen");
		}
		tap_buffer_add_char(line, '\n');
	}
}

static void add_json(struct tap_json *json, enum tap_nccl_transport transport,
		     const struct tap_transport_ends *sum)
{
	enum tap_known known;
	enum tap_why why;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "transport", tap_nccl_transport_name(transport));
	tap_json_bool(json, "seen", tap_nccl_transport_is_seen(transport));
	tap_json_unsigned(json, "count", sum->ends);
	tap_json_open(json, "channels", '{');
	for (known = 0; known <= TAP_KNOWN_INFERRED; known++)
		tap_json_unsigned(json, tap_known_name(known), sum->known[known]);
	tap_json_close(json);
	tap_json_open(json, "why", '{');
	for (why = 0; why < TAP_WHY_COUNT; why++)
		if (sum->whys[why])
			tap_json_unsigned(json, tap_why_name(why), sum->whys[why]);
	tap_json_close(json);
	tap_json_close(json);
}

void tap_check_connections_json(const struct tap_check_connections *connections,
				struct tap_json *json)
{
	enum tap_nccl_transport transport;
	uint64_t ends = 0;

	for (transport = 0; transport < TAP_TRANSPORTS; transport++)
		ends += connections->of[transport].ends;
	if (!ends)
		return;
	tap_json_open(json, "connections", '[');
	for (transport = 0; transport < TAP_TRANSPORTS; transport++)
		if (connections->of[transport].ends)
			add_json(json, transport, &connections->of[transport]);
	tap_json_close(json);
}
