/* SPDX-License-Identifier: MIT */
/*
 * What the bytes of a socket of NCCL's are: handshakes, and NET/Socket's messages, with the
 * calls that NCCL makes for them, whole and in pieces; and when nothing is decoded any more.
 */
#include "intercept/net/stream.h"

#include <string.h>

#include "unit/tap.h"

#define MAGIC UINT64_C(0x564ab9f2fc4b9d6c)

static struct tap_net_handshake handshake;
static struct tap_net_piece piece;

/* A call that asks for so many bytes and moves some of them. */
static void pass(struct tap_net_stream *stream, const void *data, size_t asked, size_t bytes)
{
	tap_net_stream_pass(stream, data, asked, bytes, &handshake, &piece);
}

static struct tap_net_stream begin(bool is_received)
{
	handshake = (struct tap_net_handshake){0};
	return (struct tap_net_stream){.state = TAP_NET_HANDSHAKE,
				       .is_received = is_received};
}

static void greet(struct tap_net_stream *stream, uint64_t magic, int32_t use, int index)
{
	const uint8_t number = (uint8_t) index;

	pass(stream, &magic, 8, 8);
	pass(stream, &use, 4, 4);
	if (index >= 0)
		pass(stream, &number, 1, 1);
}

/* Of the only socket of a connection. */
static struct tap_net_stream data_stream(bool is_received)
{
	struct tap_net_stream stream = begin(is_received);

	greet(&stream, MAGIC, TAP_NET_USE_DATA, 0);
	tap_net_stream_set_alone(&stream);
	return stream;
}

/* Of one of several. */
static struct tap_net_stream shared_stream(bool is_received, bool is_control,
					   int64_t inline_bytes)
{
	struct tap_net_stream stream = begin(is_received);

	greet(&stream, MAGIC, TAP_NET_USE_DATA, 0);
	tap_net_stream_set_tasks(&stream, is_control, inline_bytes);
	return stream;
}

static void header(struct tap_net_stream *stream, int32_t size)
{
	pass(stream, &size, 4, 4);
}

static bool is_at(enum tap_net_part part, uint32_t message, uint32_t size, uint32_t left)
{
	return piece.part == part && piece.message == message && piece.size == size &&
	       piece.left == left && !piece.mismatch;
}

static const uint8_t payload[1 << 20];

static bool reads_handshakes(void)
{
	struct tap_net_stream stream;
	bool is_passed = true;
	int32_t use;

	for (use = TAP_NET_USE_BOOTSTRAP; use < TAP_NET_USES; use++) {
		stream = begin(use % 2);
		greet(&stream, use == TAP_NET_USE_DATA ? MAGIC : 7, use,
		      use == TAP_NET_USE_DATA ? 3 : -1);
		CHECK(piece.is_handshake_over && !piece.mismatch);
		CHECK(handshake.use == (enum tap_net_use) use);
		CHECK(stream.offset == (use == TAP_NET_USE_DATA ? 13 : 12));
	}
	CHECK(handshake.index == 3 || use != TAP_NET_USE_DATA + 1);
	return is_passed;
}

static bool reads_a_handshake_byte_by_byte(void)
{
	struct tap_net_stream stream = begin(true);
	uint8_t bytes[13] = {[8] = TAP_NET_USE_DATA, [12] = 5};
	const uint64_t magic = MAGIC;
	bool is_passed = true;
	size_t i;

	memcpy(bytes, &magic, 8);
	for (i = 0; i < sizeof(bytes); i++) {
		CHECK(!piece.is_handshake_over || !i);
		pass(&stream, bytes + i, 1, 1);
		CHECK(piece.part == TAP_NET_PART_HANDSHAKE);
	}
	CHECK(piece.is_handshake_over && handshake.index == 5);
	CHECK(stream.state == TAP_NET_FIRST);
	return is_passed;
}

static bool refuses_others(void)
{
	struct tap_net_stream stream = begin(true);
	bool is_passed = true;

	greet(&stream, MAGIC + 1, TAP_NET_USE_DATA, -1);
	CHECK(piece.mismatch && stream.state == TAP_NET_OPAQUE);
	CHECK(handshake.use == TAP_NET_USE_UNKNOWN);
	stream = begin(true);
	greet(&stream, MAGIC, TAP_NET_USES, -1);
	CHECK(piece.mismatch && stream.state == TAP_NET_OPAQUE);
	stream = begin(true);
	greet(&stream, MAGIC, 0x20545450, -1);
	CHECK(piece.mismatch);
	pass(&stream, payload, 100, 50);
	CHECK(piece.part == TAP_NET_PART_OTHER && !piece.mismatch && stream.offset == 62);
	return is_passed;
}

static bool follows_messages(void)
{
	struct tap_net_stream stream;
	bool is_passed = true;
	int is_received;

	for (is_received = 0; is_received < 2; is_received++) {
		stream = data_stream(is_received);
		header(&stream, 1000);
		CHECK(is_at(TAP_NET_PART_HEADER, 1, 1000, 1000));
		pass(&stream, payload, 1000, 400);
		CHECK(is_at(TAP_NET_PART_PAYLOAD, 1, 1000, 600));
		pass(&stream, payload, 600, 600);
		CHECK(is_at(TAP_NET_PART_PAYLOAD, 1, 1000, 0));
		header(&stream, 0);
		CHECK(is_at(TAP_NET_PART_HEADER, 2, 0, 0));
		header(&stream, 4);
		CHECK(is_at(TAP_NET_PART_HEADER, 3, 4, 4));
		pass(&stream, payload, 4, 4);
		CHECK(is_at(TAP_NET_PART_PAYLOAD, 3, 4, 0));
		CHECK(stream.offset == 13 + 4 + 1000 + 4 + 4 + 4);
	}
	return is_passed;
}

static bool follows_headers_in_pieces(void)
{
	struct tap_net_stream stream = data_stream(true);
	const int32_t size = 70000;
	bool is_passed = true;

	pass(&stream, &size, 4, 1);
	CHECK(is_at(TAP_NET_PART_HEADER_BEGIN, 1, 0, 0));
	pass(&stream, (const char *) &size + 1, 3, 3);
	CHECK(is_at(TAP_NET_PART_HEADER, 1, 70000, 70000));
	return is_passed;
}

static bool follows_short_payloads_with_their_header(void)
{
	struct tap_net_stream stream = data_stream(false);
	uint8_t bytes[104] = {100};
	bool is_passed = true;

	pass(&stream, bytes, 104, 104);
	CHECK(is_at(TAP_NET_PART_HEADER, 1, 100, 0));
	pass(&stream, bytes, 104, 24);
	CHECK(is_at(TAP_NET_PART_HEADER, 2, 100, 80));
	pass(&stream, bytes, 80, 80);
	CHECK(is_at(TAP_NET_PART_PAYLOAD, 2, 100, 0));
	pass(&stream, bytes, 104, 2);
	CHECK(is_at(TAP_NET_PART_HEADER_BEGIN, 3, 0, 0));
	pass(&stream, bytes + 2, 102, 102);
	CHECK(is_at(TAP_NET_PART_HEADER, 3, 100, 0));
	pass(&stream, bytes, 105, 105);
	CHECK(piece.mismatch);
	return is_passed;
}

static bool follows_tasks(void)
{
	struct tap_net_stream control = shared_stream(true, true, TAP_NET_INLINE_UNKNOWN);
	struct tap_net_stream tasks = shared_stream(true, false, 128);
	bool is_passed = true;

	header(&control, 200000);
	CHECK(is_at(TAP_NET_PART_HEADER, 1, 200000, 0));
	header(&control, 100);
	CHECK(is_at(TAP_NET_PART_HEADER, 2, 100, 0));
	pass(&control, payload, 100, 60);
	CHECK(is_at(TAP_NET_PART_PAYLOAD, 2, 100, 40));
	pass(&control, payload, 40, 40);
	CHECK(is_at(TAP_NET_PART_PAYLOAD, 2, 100, 0));
	header(&control, 4);
	/* Short payloads come with their headers here, so these four bytes are payload. */
	pass(&control, payload, 4, 4);
	CHECK(is_at(TAP_NET_PART_PAYLOAD, 3, 4, 0));
	pass(&tasks, payload, 65536, 1000);
	CHECK(is_at(TAP_NET_PART_TASK, 1, 65536, 64536));
	pass(&tasks, payload, 64536, 64536);
	CHECK(is_at(TAP_NET_PART_TASK, 1, 65536, 0));
	pass(&tasks, payload, 10, 10);
	CHECK(is_at(TAP_NET_PART_TASK, 2, 10, 0));
	return is_passed;
}

/* What a receiver makes of a header of four bytes and of the four bytes behind it. */
static bool takes_four(struct tap_net_stream *stream, int32_t bytes)
{
	header(stream, 4);
	pass(stream, &bytes, 4, 4);
	return !piece.mismatch;
}

/*
 * They look like the next header, and are payload where short ones go with their header.
 * Here they would be the header of 7 bytes.
 */
static bool tells_four_bytes_of_payload_from_a_header(void)
{
	struct tap_net_stream stream = shared_stream(true, true, 128);
	bool is_passed = true;

	CHECK(takes_four(&stream, 7) && is_at(TAP_NET_PART_PAYLOAD, 1, 4, 0));
	header(&stream, 7);
	CHECK(is_at(TAP_NET_PART_HEADER, 2, 7, 0));
	pass(&stream, payload, 7, 7);
	CHECK(is_at(TAP_NET_PART_PAYLOAD, 2, 7, 0));
	stream = shared_stream(true, true, 4);
	CHECK(takes_four(&stream, 7) && is_at(TAP_NET_PART_PAYLOAD, 1, 4, 0));
	/* Here they go over another socket. */
	stream = shared_stream(true, true, 3);
	CHECK(takes_four(&stream, 7) && is_at(TAP_NET_PART_HEADER, 2, 7, 0));
	stream = shared_stream(true, true, 0);
	CHECK(takes_four(&stream, 7) && is_at(TAP_NET_PART_HEADER, 2, 7, 0));
	return is_passed;
}

static bool learns_which_it_is(void)
{
	struct tap_net_stream stream = shared_stream(true, true, TAP_NET_INLINE_UNKNOWN);
	bool is_passed = true;

	/* Nothing tells. */
	CHECK(!takes_four(&stream, 7) && stream.state == TAP_NET_OPAQUE);
	CHECK(piece.part == TAP_NET_PART_OTHER && stream.offset == 13 + 8);
	/* A shorter one went with its header: one of four bytes need not. */
	stream = shared_stream(true, true, TAP_NET_INLINE_UNKNOWN);
	header(&stream, 3);
	pass(&stream, payload, 3, 3);
	CHECK(!takes_four(&stream, 7));
	/* A longer one did not: one of four bytes may. */
	stream = shared_stream(true, true, TAP_NET_INLINE_UNKNOWN);
	header(&stream, 100);
	CHECK(!takes_four(&stream, 7));
	/* A longer one did, or a shorter one did not: that tells. */
	stream = shared_stream(true, true, TAP_NET_INLINE_UNKNOWN);
	header(&stream, 5);
	pass(&stream, payload, 5, 5);
	CHECK(takes_four(&stream, 7) && is_at(TAP_NET_PART_PAYLOAD, 2, 4, 0));
	stream = shared_stream(true, true, TAP_NET_INLINE_UNKNOWN);
	header(&stream, 3);
	CHECK(takes_four(&stream, 7) && is_at(TAP_NET_PART_HEADER, 3, 7, 0));
	return is_passed;
}

static bool gives_up(void)
{
	struct tap_net_stream stream = data_stream(true);
	bool is_passed = true;

	header(&stream, 1000);
	pass(&stream, payload, 900, 900);
	CHECK(piece.mismatch && stream.state == TAP_NET_OPAQUE);
	pass(&stream, payload, 100, 100);
	CHECK(!piece.mismatch && piece.part == TAP_NET_PART_OTHER && !piece.message);
	stream = data_stream(true);
	header(&stream, -1);
	CHECK(piece.mismatch);
	stream = data_stream(true);
	pass(&stream, payload, 100, 100);
	CHECK(piece.mismatch);
	stream = shared_stream(false, false, 128);
	pass(&stream, payload, 100, 50);
	pass(&stream, payload, 100, 50);
	CHECK(piece.mismatch);
	return is_passed;
}

int main(void)
{
	report("handshakes of all uses are read", reads_handshakes);
	report("a handshake is read byte by byte", reads_a_handshake_byte_by_byte);
	report("what is no handshake of NCCL's is not decoded", refuses_others);
	report("messages are followed", follows_messages);
	report("headers are followed in pieces", follows_headers_in_pieces);
	report("short payloads are followed with their headers",
	       follows_short_payloads_with_their_header);
	report("tasks are followed on their sockets", follows_tasks);
	report("four bytes of payload are told from a header",
	       tells_four_bytes_of_payload_from_a_header);
	report("where nothing tells what four bytes are, decoding ends", learns_which_it_is);
	report("a call that fits no part ends the decoding", gives_up);
	return tap_done();
}
