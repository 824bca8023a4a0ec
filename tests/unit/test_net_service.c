/* SPDX-License-Identifier: MIT */
/*
 * NCCL's messages to its service thread and the answers, as 2.18 and later releases send
 * them: what is read, what passes unread, and when nothing is decoded any more.
 */
#include "intercept/net/service.h"

#include <netinet/in.h>
#include <string.h>

#include "unit/tap.h"

static struct tap_service_message last;
static uint8_t last_address[28];
static unsigned int nr_messages;

static void take(void *data, const struct tap_service_message *message)
{
	(void) data;
	last = *message;
	if (last.address)
		memcpy(last_address, last.address, sizeof(last_address));
	nr_messages++;
}

static const char *pass(struct tap_service_stream *stream, const void *data, size_t bytes)
{
	return tap_service_pass(stream, data, bytes, bytes, take, NULL);
}

static const char *pass_number(struct tap_service_stream *stream, int32_t number)
{
	return pass(stream, &number, 4);
}

/* A request as ncclProxyCallAsync() sends it. */
static const char *request(struct tap_service_stream *stream, int32_t type,
			   uint64_t connection, const void *data, int32_t bytes,
			   int32_t response, uint64_t operation)
{
	const char *why = pass_number(stream, type);

	why = why ? why : pass(stream, &connection, 8);
	why = why ? why : pass_number(stream, bytes);
	why = why ? why : pass_number(stream, response);
	if (!why && bytes)
		why = pass(stream, data, (size_t) bytes);
	return why ? why : pass(stream, &operation, 8);
}

static const int32_t setup[] = {1, 0, 2, 0, 1, 0, 0, 7, 1, 1};
static const int32_t init[] = {2, 1, 0, 1, 1};

static bool reads_what_makes_a_connection(void)
{
	struct tap_service_stream stream = {.is_response = false};
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(4000)};
	uint8_t handle[140] = {0};
	bool is_passed = true;

	nr_messages = 0;
	CHECK(!request(&stream, TAP_SERVICE_INIT, 0, init, 20, 16, 0xa));
	CHECK(nr_messages == 1 && last.type == TAP_SERVICE_INIT && last.operation == 0xa);
	CHECK(last.nr_values == 5 && !memcmp(last.values, init, 20));
	CHECK(!request(&stream, TAP_SERVICE_SETUP, 0xc0, setup, 36, 0, 0xb));
	CHECK(last.connection == 0xc0 && last.nr_values == 9 && last.values[7] == 7);
	CHECK(!request(&stream, TAP_SERVICE_SETUP, 0xc1, setup, 40, 128, 0xc));
	CHECK(last.nr_values == 10 && last.response_bytes == 128 && !last.address);
	memcpy(handle, &peer, sizeof(peer));
	CHECK(!request(&stream, TAP_SERVICE_CONNECT, 0xc0, handle, 140, 900, 0xd));
	CHECK(last.address && !memcmp(last_address, &peer, sizeof(peer)));
	CHECK(!last.nr_values && last.operation == 0xd);
	CHECK(nr_messages == 4);
	return is_passed;
}

static bool passes_others_unread(void)
{
	struct tap_service_stream stream = {.is_response = false};
	static const uint8_t secret[300] = {1, 2, 3};
	bool is_passed = true;

	CHECK(!request(&stream, TAP_SERVICE_SETUP, 0xc0, secret, 24, 80, 1));
	CHECK(!last.nr_values && !last.address);
	CHECK(!request(&stream, TAP_SERVICE_CONNECT, 0xc0, secret, 300, 0, 2));
	CHECK(!last.nr_values && !last.address);
	CHECK(!request(&stream, TAP_SERVICE_REGISTER, 0xc0, secret, 40, 8, 3));
	CHECK(!last.nr_values && !last.address && last.type == TAP_SERVICE_REGISTER);
	CHECK(!request(&stream, TAP_SERVICE_SHARED_INIT, 0xc0, secret, 4, 0, 4));
	CHECK(!pass_number(&stream, TAP_SERVICE_CLOSE));
	CHECK(last.type == TAP_SERVICE_CLOSE && !last.connection);
	CHECK(!request(&stream, TAP_SERVICE_INIT, 0, init, 20, 16, 5));
	CHECK(last.nr_values == 5);
	return is_passed;
}

static bool reads_in_pieces(void)
{
	struct tap_service_stream stream = {.is_response = false};
	const uint64_t connection = UINT64_C(0x1122334455667788), operation = 9;
	bool is_passed = true;
	size_t i;

	nr_messages = 0;
	CHECK(!pass_number(&stream, TAP_SERVICE_SETUP));
	for (i = 0; i < 8; i++)
		CHECK(!tap_service_pass(&stream, (const char *) &connection + i, 8 - i, 1,
					take, NULL));
	CHECK(!pass_number(&stream, 36) && !pass_number(&stream, 0));
	CHECK(!tap_service_pass(&stream, setup, 36, 30, take, NULL));
	CHECK(!tap_service_pass(&stream, (const char *) setup + 30, 6, 6, take, NULL));
	CHECK(!tap_service_pass(&stream, &operation, 8, 5, take, NULL));
	CHECK(!nr_messages);
	CHECK(!tap_service_pass(&stream, (const char *) &operation + 5, 3, 3, take, NULL));
	CHECK(nr_messages == 1 && last.connection == connection && last.operation == 9);
	CHECK(last.nr_values == 9 && !memcmp(last.values, setup, 36));
	return is_passed;
}

static bool reads_answers(void)
{
	struct tap_service_stream stream = {.is_response = true};
	struct {
		uint64_t operation;
		int32_t result, bytes;
	} head = {0xa, 0, 16};
	uint64_t body[16] = {0xc0};
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(1)};
	bool is_passed = true;

	nr_messages = 0;
	CHECK(!pass(&stream, &head, 16) && !nr_messages && !pass(&stream, body, 16));
	CHECK(nr_messages == 1 && last.is_response && last.operation == 0xa);
	CHECK(last.connection == 0xc0 && last.response_bytes == 16);
	head.bytes = 24; /* from 2.30 on */
	body[0] = 0xc8;
	CHECK(!pass(&stream, &head, 16) && !pass(&stream, body, 24));
	CHECK(last.connection == 0xc8);
	head.bytes = 128;
	head.result = 3;
	memcpy(body, &address, sizeof(address));
	CHECK(!pass(&stream, &head, 16) && !pass(&stream, body, 128));
	CHECK(last.result == 3 && last.address && !last.connection);
	CHECK(!memcmp(last_address, &address, sizeof(address)));
	head.bytes = 0;
	CHECK(!pass(&stream, &head, 16));
	CHECK(nr_messages == 4 && !last.address && !last.connection);
	return is_passed;
}

static bool reads_answers_of_2_18(void)
{
	struct tap_service_stream stream = {.is_response = true};
	const uint64_t operation = 0xa, body[2] = {0xc0};
	bool is_passed = true;

	nr_messages = 0;
	CHECK(!pass(&stream, &operation, 8) && !pass_number(&stream, 16));
	CHECK(!nr_messages && !pass(&stream, body, 16));
	CHECK(nr_messages == 1 && last.connection == 0xc0 && last.operation == 0xa);
	CHECK(!pass(&stream, &operation, 8) && !pass_number(&stream, 0));
	CHECK(nr_messages == 2 && !last.connection);
	return is_passed;
}

static bool gives_up(void)
{
	struct tap_service_stream stream = {.is_response = false};
	const uint64_t number = 0;
	bool is_passed = true;

	CHECK(pass(&stream, &number, 8));
	stream = (struct tap_service_stream){.is_response = false};
	CHECK(pass_number(&stream, 99));
	stream = (struct tap_service_stream){.is_response = false};
	CHECK(request(&stream, TAP_SERVICE_SETUP, 1, setup, -5, 0, 0));
	stream = (struct tap_service_stream){.is_response = true};
	CHECK(pass_number(&stream, 1));
	return is_passed;
}

int main(void)
{
	report("requests that make a connection are read", reads_what_makes_a_connection);
	report("all other requests pass unread", passes_others_unread);
	report("a request is read in pieces", reads_in_pieces);
	report("answers are read", reads_answers);
	report("answers of 2.18 are read", reads_answers_of_2_18);
	report("what fits no message ends the decoding", gives_up);
	return tap_done();
}
