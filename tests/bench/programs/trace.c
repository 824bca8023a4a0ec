/* SPDX-License-Identifier: MIT */
/*
 * trace FOLDER STREAMS EVENTS: writes a CTF trace as LTTng lays it out, each stream
 * with a process of its own that makes one ncclAllReduce after the other, in a
 * communicator that it shares with the stream beside it.  Without LTTng, so that it has as many events and streams as asked for, always the same.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKET_BYTES (256 * 1024)
/* No event is longer. */
#define EVENT_BYTES 512
/* All fits into the 32 bits that an event's header has for the time. */
#define STEP_NS 1000
#define CLOCK_BEGIN_NS 4294967296u

#define MAGIC 0xc1fc1fc1u
static const uint8_t uuid[16] = {
	0x0b, 0x5e, 0x11, 0x2f, 0x6d, 0x3c, 0x4a, 0x58,
	0x9c, 0x21, 0x5b, 0x0e, 0x42, 0x77, 0x10, 0xaa,
};

enum event_id { PROCESS, LIBRARY, COMM, ENTRY, EXIT };

/* What each stream begins with: a process, a library, a communicator twice. */
#define HEAD 4

struct stream {
	int fd;
	uint32_t number;
	uint32_t nranks; /* of its communicator */
	uint64_t packets, call_id, events;
	uint64_t begin_ns, end_ns;
	size_t used;
	uint8_t packet[PACKET_BYTES];
};

/* clang-format off */
static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = hex; }"
	" := hex64_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"trace {\n"
	"	major = 1; minor = 8; byte_order = le;\n"
	"	uuid = \"0b5e112f-6d3c-4a58-9c21-5b0e427710aa\";\n"
	"	packet.header := struct {\n"
	"		uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;\n"
	"		uint64_t stream_instance_id;\n"
	"	};\n"
	"};\n"
	"env {\n"
	"	domain = \"ust\"; tracer_name = \"lttng-ust\"; tracer_major = 2;\n"
	"	tracer_minor = 13; hostname = \"bench\";\n"
	"};\n"
	"clock { name = \"monotonic\"; freq = 1000000000;\n"
	"	offset = 1600000000000000000; };\n"
	"typealias integer { size = 32; align = 8; map = clock.monotonic.value; }"
	" := clock32_t;\n"
	"typealias integer { size = 64; align = 8; map = clock.monotonic.value; }"
	" := clock64_t;\n"
	"stream {\n"
	"	id = 0;\n"
	"	event.header := struct {\n"
	"		enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;\n"
	"		variant <id> {\n"
	"			struct { clock32_t timestamp; } compact;\n"
	"			struct { uint32_t id; clock64_t timestamp; } extended;\n"
	"		} v;\n"
	"	};\n"
	"	packet.context := struct {\n"
	"		clock64_t timestamp_begin; clock64_t timestamp_end;\n"
	"		uint64_t content_size; uint64_t packet_size;\n"
	"		uint64_t packet_seq_num;\n"
	"		uint64_t events_discarded; uint32_t cpu_id;\n"
	"	};\n"
	"	event.context := struct { int32_t _vpid; int32_t _vtid; };\n"
	"};\n"
	"event {\n"
	"	name = \"tap:process\"; id = 0; stream_id = 0;\n"
	"	fields := struct {\n"
	"		int32_t _pid; int32_t _ppid; string _host; string _boot_id;\n"
	"		uint64_t _pid_namespace; uint64_t _time_namespace;\n"
	"		uint32_t _uid;\n"
	"		string _job_id; int32_t _rank; int32_t _world_size;\n"
	"		int32_t _local_rank; string _rank_from; string _executable;\n"
	"		string _command; string _version;\n"
	"	};\n"
	"};\n"
	"event {\n"
	"	name = \"tap:library\"; id = 1; stream_id = 0;\n"
	"	fields := struct {\n"
	"		uint32_t _library_id; string _path; hex64_t _base;\n"
	"		string _build_id; string _layer;\n"
	"	};\n"
	"};\n"
	"event {\n"
	"	name = \"tap:comm\"; id = 2; stream_id = 0;\n"
	"	fields := struct {\n"
	"		uint32_t _comm_id; hex64_t _comm; hex64_t _comm_key;\n"
	"		hex64_t _alias_key; uint32_t _library_id; uint64_t _call_id;\n"
	"		enum : int32_t { \"unknown\" = 0, \"init\" = 1 } _origin;\n"
	"		uint32_t _parent_comm_id; uint32_t _ordinal; int32_t _color;\n"
	"		int32_t _split_key;\n"
	"		enum : int32_t { \"initialising\" = 0, \"ready\" = 1 } _phase;\n"
	"		enum : int32_t { \"ncclSuccess\" = 0 } _async_error;\n"
	"		int32_t _nranks; int32_t _rank; int32_t _device;\n"
	"		uint64_t _collectives; int32_t _config_blocking;\n"
	"		string _config_commName;\n"
	"	};\n"
	"};\n"
	"event {\n"
	"	name = \"nccl:ncclAllReduce_entry\"; id = 3; stream_id = 0;\n"
	"	fields := struct {\n"
	"		uint64_t _call_id; uint64_t _parent_id;\n"
	"		uint32_t _caller_library;\n"
	"		hex64_t _caller_offset; uint8_t _inner; uint8_t _pnccl;\n"
	"		uint8_t _looked_up; uint32_t _library;\n"
	"		hex64_t _sendbuff; hex64_t _recvbuff; uint64_t _count;\n"
	"		enum : int32_t { \"ncclInt8\" = 0, \"ncclFloat16\" = 6,\n"
	"			\"ncclFloat32\" = 7, \"ncclBfloat16\" = 9 } _datatype;\n"
	"		enum : int32_t { \"ncclSum\" = 0, \"ncclMax\" = 2 } _op;\n"
	"		hex64_t _comm; hex64_t _stream;\n"
	"		uint32_t _comm_id; hex64_t _comm_key; uint64_t _op_number;\n"
	"		uint64_t _group_id; uint8_t _group_depth;\n"
	"		enum : int32_t { \"none\" = 0, \"active\" = 1,\n"
	"			\"invalidated\" = 2, \"unknown\" = -1 } _capture;\n"
	"	};\n"
	"};\n"
	"event {\n"
	"	name = \"nccl:ncclAllReduce_exit\"; id = 4; stream_id = 0;\n"
	"	fields := struct {\n"
	"		uint64_t _call_id;\n"
	"		enum : int32_t { \"ncclSuccess\" = 0,\n"
	"			\"ncclSystemError\" = 2 } _result;\n"
	"	};\n"
	"};\n";
/* clang-format on */

static void put(struct stream *to, const void *bytes, size_t size)
{
	memcpy(to->packet + to->used, bytes, size);
	to->used += size;
}

static void put_u8(struct stream *to, uint8_t value)
{
	put(to, &value, sizeof(value));
}

static void put_u32(struct stream *to, uint32_t value)
{
	put(to, &value, sizeof(value));
}

static void put_u64(struct stream *to, uint64_t value)
{
	put(to, &value, sizeof(value));
}

static void put_string(struct stream *to, const char *string)
{
	put(to, string, strlen(string) + 1);
}

/* The sizes are in bits, the packet is whole pages, as in a trace of LTTng's. */
static void put_packet_head(struct stream *to, size_t content, size_t packet)
{
	to->used = 0;
	put_u32(to, MAGIC);
	put(to, uuid, sizeof(uuid));
	put_u32(to, 0);
	put_u64(to, to->number);
	put_u64(to, to->begin_ns);
	put_u64(to, to->end_ns);
	put_u64(to, content * 8);
	put_u64(to, packet * 8);
	put_u64(to, to->packets);
	put_u64(to, 0);
	put_u32(to, to->number);
}

static int end_packet(struct stream *to)
{
	size_t content = to->used, packet = (content + 4095) / 4096 * 4096;

	put_packet_head(to, content, packet);
	memset(to->packet + content, 0, packet - content);
	to->packets++;
	to->used = 0;
	return write(to->fd, to->packet, packet) == (ssize_t) packet ? 0 : -1;
}

static int put_event_head(struct stream *to, enum event_id event, uint64_t now_ns)
{
	const uint16_t id = (uint16_t) event;

	if (to->used + EVENT_BYTES > PACKET_BYTES && end_packet(to))
		return -1;
	if (!to->used) {
		to->begin_ns = now_ns;
		put_packet_head(to, 0, 0);
	}
	to->end_ns = now_ns;
	put(to, &id, sizeof(id));
	put_u32(to, (uint32_t) now_ns);
	put_u32(to, 1000 + to->number);
	put_u32(to, 1000 + to->number);
	return 0;
}

static void put_process(struct stream *to)
{
	put_u32(to, 1000 + to->number);
	put_u32(to, 1);
	put_string(to, "bench");
	put_string(to, "00000000-0000-0000-0000-000000000001");
	put_u64(to, 4026531836u);
	put_u64(to, 4026531834u);
	put_u32(to, 0);
	put_string(to, "bench");
	put_u32(to, to->number);
	put_u32(to, 256);
	put_u32(to, to->number);
	put_string(to, "RANK");
	put_string(to, "/usr/bin/program");
	put_string(to, "program");
	put_string(to, "0");
}

static void put_library(struct stream *to)
{
	put_u32(to, 1);
	put_string(to, "/usr/bin/program");
	put_u64(to, 0x550000000000);
	put_string(to, "00");
	put_string(to, "");
}

static uint64_t comm_key(const struct stream *to)
{
	return 0x1f2e3d4c5b6a0000 + to->number / 2;
}

static void put_comm(struct stream *to)
{
	put_u32(to, 1);
	put_u64(to, 0x550000001000);
	put_u64(to, comm_key(to));
	put_u64(to, 0);
	put_u32(to, 1);
	put_u64(to, 0);
	put_u32(to, 1);
	put_u32(to, 0);
	put_u32(to, 1);
	put_u32(to, UINT32_MAX);
	put_u32(to, 0);
	put_u32(to, to->events == COMM ? 0 : 1);
	put_u32(to, 0);
	put_u32(to, to->nranks);
	put_u32(to, to->number % 2);
	put_u32(to, to->number % 2);
	put_u64(to, 0);
	put_u32(to, INT32_MIN);
	put_string(to, "");
}

static void put_entry(struct stream *to)
{
	put_u64(to, ++to->call_id);
	put_u64(to, 0);
	put_u32(to, 1);
	put_u64(to, 0x1200 + to->call_id % 4 * 16);
	put_u8(to, 0);
	put_u8(to, 0);
	put_u8(to, 0);
	put_u32(to, 1);
	put_u64(to, 0x7f0000000000 + to->call_id % 64 * 4096);
	put_u64(to, 0x7f8000000000 + to->call_id % 64 * 4096);
	put_u64(to, (uint64_t) 1 << to->call_id % 24);
	put_u32(to, to->call_id % 2 ? 7 : 9);
	put_u32(to, 0);
	put_u64(to, 0x550000001000);
	put_u64(to, 0x550000002000);
	put_u32(to, 1);
	put_u64(to, comm_key(to));
	put_u64(to, to->call_id);
	put_u64(to, 0);
	put_u8(to, 0);
	put_u32(to, 0);
}

static void put_exit(struct stream *to)
{
	put_u64(to, to->call_id);
	put_u32(to, 0);
}

static int put_event(struct stream *to, uint64_t now_ns)
{
	const enum event_id id = to->events < COMM   ? (enum event_id) to->events
				 : to->events < HEAD ? COMM
				 : to->events % 2    ? EXIT
						     : ENTRY;

	if (put_event_head(to, id, now_ns))
		return -1;
	if (id == PROCESS)
		put_process(to);
	else if (id == LIBRARY)
		put_library(to);
	else if (id == COMM)
		put_comm(to);
	else if (id == ENTRY)
		put_entry(to);
	else
		put_exit(to);
	to->events++;
	return 0;
}

/* Relative to the current folder. */
static int write_metadata(void)
{
	FILE *file = fopen("metadata", "w");
	int has_failed;

	if (!file)
		return -1;
	has_failed = fputs(metadata, file) < 0;
	return fclose(file) || has_failed ? -1 : 0;
}

/*
 * Streams take turns in an order that looks like chance, as processors do; the last
 * events end the open calls, so the streams end when they are all equally long.
 */
static int write_streams(struct stream *streams, uint32_t count, uint64_t events)
{
	uint64_t written, state = 88172645463325252u;
	uint32_t i, at;

	for (i = 0; i < count; i++) {
		char name[32];

		streams[i].number = i;
		streams[i].nranks = (i ^ 1) < count ? 2 : 1;
		snprintf(name, sizeof(name), "hot_%" PRIu32, i);
		streams[i].fd =
			open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (streams[i].fd < 0)
			return -1;
	}
	for (written = 0; written < events; written++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		at = (uint32_t) (state >> 32) % count;
		while (streams[at].events >= events / count)
			at = (at + 1) % count;
		if (put_event(&streams[at], CLOCK_BEGIN_NS + written * STEP_NS))
			return -1;
	}
	for (i = 0; i < count; i++)
		if (end_packet(&streams[i]) || close(streams[i].fd))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct stream *streams;
	uint64_t events;
	uint32_t count;
	int ret;

	if (argc != 4)
		return 2;
	count = (uint32_t) strtoul(argv[2], NULL, 10);
	events = strtoull(argv[3], NULL, 10);
	if (!count || events < (HEAD + 2) * (uint64_t) count || events * STEP_NS >= UINT32_MAX)
		return 2;
	/* As many in each stream, and every call has an end. */
	events -= events % (2 * (uint64_t) count);
	streams = calloc(count, sizeof(*streams));
	if (!streams)
		return 1;
	ret = chdir(argv[1]) || write_metadata() || write_streams(streams, count, events);
	if (ret)
		perror(argv[1]);
	free(streams);
	return ret;
}
