/* SPDX-License-Identifier: MIT */
/*
 * multiply [OPTION]... TRACE FOLDER HOSTS: makes of the trace of one host, of a real run,
 * those of many hosts in one job, FOLDER/NAME/trace for each.
 *
 * Ranks, addresses, clocks and names become those of the host; what the last rank of a
 * host and the first of the same host sent each other is sent to and by the host beside
 * it, so that the hosts form the ring that the ranks of one host formed.  Communicators
 * and the numbers of operations are the same on all hosts, as in one job; so are numbers
 * of processes, as in containers.  The name of the template's host ends in four digits.
 *
 *   --seed=N         of clocks and losses (1)
 *   --skew=NS        clocks are off by up to so much (0)
 *   --loss=PERMILLE  of the packets of the channel "hot" are lost (0)
 *   --wrong=HOST     a rank of this host gives another count in one operation
 *   --failed=HOST    on this host that call returns ncclSystemError
 *   --cut=HOST       its recording ends half way
 *   --from=HOST      hosts before it are not written (0), so that a job for which the disk
 *   --to=HOST        has no room, or after it (HOSTS - 1), is made and read in parts
 *
 * babeltrace2 says what the fields are; where they lie follows from LTTng's layout, in
 * which all fields are aligned to bytes.  That each packet ends where its size says
 * proves it.
 */
#include <babeltrace2/babeltrace.h>

#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGITS 4
#define RANKS_MAX 64
#define STREAMS_MAX 256

/* Of a packet's header and context, as LTTng 2.13 declares them. */
#define STREAM_CLASS_AT 20
#define STREAM_AT 24
#define CONTENT_AT 48
#define PACKET_AT 56
#define EVENTS_AT 84

/* enum ncclProxyMsgType, and whose ranks it names. */
#define SETUP 3
#define SETUP_RANK 0
#define SETUP_PEER 2

#define TEXT_OF_PROCNAME 17

/* ncclResult_t. */
#define SYSTEM_ERROR 2

_Noreturn static void die(const char *what, const char *which)
{
	fprintf(stderr, "multiply: %s: %s\n", which, what);
	exit(1);
}

static void join(char path[PATH_MAX], const char *folder, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		die("its path is too long", name);
}

/* ---- What is changed ---- */

enum rule {
	OWN_RANK,  /* value: the rank in the template */
	PEER_RANK, /* rank: who names it */
	ALL_RANKS,
	OWN_GID,  /* the upper half of a GID */
	PEER_GID, /* rank: whose; value: the upper half; peer: whom it names */
	NAME,	  /* of the host */
	BOOT,	  /* 36 digits and dashes */
	ADDRESS,  /* "127.0.0.1:4000" */
	OTHER,	  /* value: what it is instead, on the host that is wrong */
	FAILED,	  /* likewise, where a call fails */
};

struct patch {
	size_t at;
	uint64_t value;
	uint8_t size, rule;
	int8_t rank, peer;
};

struct stream {
	char name[NAME_MAX + 1];
	uint8_t *bytes;
	size_t size;
	uint64_t class, id;
	bool is_hot, is_compact;
	size_t packet, at,
		end; /* offsets of the packet that is read, of its next event */
	size_t cut_packet, cut; /* of the first event of the second half, 0: none */
	struct patch *patches;
	size_t count, room;
};

static struct {
	unsigned int hosts, from, to, seed, loss;
	int64_t skew_ns;
	int wrong, failed, cut;
} options = {.to = UINT_MAX, .seed = 1, .wrong = -1, .failed = -1, .cut = -1};

static struct stream streams[STREAMS_MAX];
static size_t stream_count;
static char *metadata;
static size_t metadata_size;
static char template_name[256], boot[64];

/* ---- What is known of the template ---- */

struct pid_rank {
	int64_t pid;
	int rank;
};
static struct pid_rank pids[RANKS_MAX];
static int rank_count;

struct queue {
	int64_t pid;
	uint64_t number;
};
static struct queue *queues;
static size_t queue_count, queue_room;

static uint64_t *times;
static size_t time_count, time_room;

struct entry {
	uint64_t number, call;
	int rank;
};
static struct entry *entries;
static size_t entry_count, entry_room;

static uint64_t middle, wrong_number;
static int wrong_rank;
static uint64_t wrong_call; /* the call_id of that operation in that rank */

static bool is_learning;

static void *grow(void *items, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return items;
	*room = *room ? 2 * *room : 1024;
	items = realloc(items, *room * size);
	if (!items)
		die("out of memory", "template");
	return items;
}

static int rank_of(int64_t pid)
{
	int i;

	for (i = 0; i < rank_count; i++)
		if (pids[i].pid == pid)
			return pids[i].rank;
	return -1;
}

static void learn_rank(int64_t pid, int64_t rank)
{
	if (rank_of(pid) >= 0 || rank < 0)
		return;
	if (rank >= RANKS_MAX || rank_count == RANKS_MAX)
		die("too many ranks", "template");
	pids[rank_count++] = (struct pid_rank){.pid = pid, .rank = (int) rank};
}

static void learn_queue(int64_t pid, uint64_t number)
{
	queues = grow(queues, queue_count, &queue_room, sizeof(*queues));
	queues[queue_count++] = (struct queue){.pid = pid, .number = number};
}

/* The rank of a queue pair with that number, -1: not one alone. */
static int rank_of_queue(uint64_t number)
{
	int found = -1, rank;
	size_t i;

	for (i = 0; i < queue_count; i++) {
		if (queues[i].number != number)
			continue;
		rank = rank_of(queues[i].pid);
		if (found >= 0 && rank != found)
			return -1;
		found = rank;
	}
	return found;
}

/* ---- Fields ---- */

static const bt_field *member(const bt_field *structure, const char *name)
{
	return structure ? bt_field_structure_borrow_member_field_by_name_const(structure,
										name)
			 : NULL;
}

static int64_t number_of(const bt_field *field)
{
	const bt_field_class_type type = bt_field_get_class_type(field);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return (int64_t) bt_field_integer_unsigned_get_value(field);
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
		       ? bt_field_integer_signed_get_value(field)
		       : -1;
}

static int64_t number(const bt_field *structure, const char *name, int64_t none)
{
	const bt_field *field = member(structure, name);

	return field ? number_of(field) : none;
}

static void add_patch(struct stream *stream, enum rule rule, size_t at, size_t size,
		      uint64_t value, int rank, int peer)
{
	stream->patches = grow(stream->patches, stream->count, &stream->room,
			       sizeof(*stream->patches));
	stream->patches[stream->count++] = (struct patch){.at = at,
							  .size = (uint8_t) size,
							  .rule = (uint8_t) rule,
							  .value = value,
							  .rank = (int8_t) rank,
							  .peer = (int8_t) peer};
}

/* The event that is read. */
static struct {
	const char *name;
	const bt_field *payload;
	int64_t pid;
	int rank;
} event;

static bool ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

static bool is_of(const char *prefix)
{
	return !strncmp(event.name, prefix, strlen(prefix));
}

/* Whether the ranks in this event are those of the communicator of all. */
static bool names_all(void)
{
	return number(event.payload, "nranks", -1) == rank_count;
}

static void visit_gid(struct stream *stream, const char *name, size_t at, uint64_t value)
{
	const bool is_peer = !strcmp(name, "dgid_hi");
	const char *lower = is_peer		       ? "dgid_lo"
			    : !strcmp(name, "sgid_hi") ? "sgid_lo"
						       : "gid_lo";
	const uint64_t low = (uint64_t) number(event.payload, lower, 0);

	if (!value && !low)
		return;
	if (!is_peer)
		add_patch(stream, OWN_GID, at, 8, value, 0, 0);
	else
		add_patch(stream, PEER_GID, at, 8, value, event.rank,
			  rank_of_queue(
				  (uint64_t) number(event.payload, "dest_qp_num", 0)));
}

static void visit_integer(struct stream *stream, const char *name, const bt_field *field,
			  size_t at, size_t size)
{
	const uint64_t value = (uint64_t) number_of(field);
	const bool is_process = is_of("tap:process") || is_of("tap:statedump_process");

	if (ends_with(name, "gid_hi") && size == 8)
		visit_gid(stream, name, at, value);
	else if (is_process && !strcmp(name, "rank") && (int64_t) value >= 0)
		add_patch(stream, OWN_RANK, at, size, value, 0, 0);
	else if (is_process && !strcmp(name, "world_size") && (int64_t) value >= 0)
		add_patch(stream, ALL_RANKS, at, size, 0, 0, 0);
	else if (!strcmp(name, "nranks") && names_all())
		add_patch(stream, ALL_RANKS, at, size, 0, 0, 0);
	else if (!strcmp(name, "rank") && names_all())
		add_patch(stream, OWN_RANK, at, size, value, 0, 0);
	else if (is_of("nccl:") && !strcmp(name, "peer"))
		add_patch(stream, PEER_RANK, at, size, value, event.rank, 0);
	else if (!strcmp(name, "count") && event.rank == wrong_rank &&
		 !strcmp(event.name, "nccl:ncclAllReduce_entry") &&
		 (uint64_t) number(event.payload, "op_number", 0) == wrong_number)
		add_patch(stream, OTHER, at, size, value / 2, 0, 0);
	else if (!strcmp(name, "result") && event.rank == wrong_rank &&
		 !strcmp(event.name, "nccl:ncclAllReduce_exit") &&
		 (uint64_t) number(event.payload, "call_id", 0) == wrong_call)
		add_patch(stream, FAILED, at, size, SYSTEM_ERROR, 0, 0);
}

static void visit_text(struct stream *stream, const char *name, const bt_field *field,
		       size_t at)
{
	/* An empty field has the text of the one before it. */
	const char *text =
		bt_field_string_get_length(field) ? bt_field_string_get_value(field) : "";

	if (is_of("tap:") && !strcmp(name, "host") && !strcmp(text, template_name))
		add_patch(stream, NAME, at, strlen(text), 0, 0, 0);
	else if (is_of("tap:") && !strcmp(name, "boot_id") && strlen(text) == 36)
		add_patch(stream, BOOT, at, 36, 0, 0, 0);
	else if (is_of("net:") && strspn(text, "0123456789") == 3 && text[3] == '.')
		add_patch(stream, ADDRESS, at, 5, 0, 0, 0);
}

static void visit_setup(struct stream *stream, uint64_t i, const bt_field *field,
			size_t at)
{
	if (i == SETUP_RANK)
		add_patch(stream, OWN_RANK, at, 4, (uint64_t) number_of(field), 0, 0);
	else if (i == SETUP_PEER)
		add_patch(stream, PEER_RANK, at, 4, (uint64_t) number_of(field),
			  event.rank, 0);
}

static size_t walk(struct stream *stream, const char *name, const bt_field *field,
		   size_t at);

static size_t walk_array(struct stream *stream, const char *name, const bt_field *field,
			 size_t at)
{
	const bool is_setup = is_of("net:service_request") && !strcmp(name, "values") &&
			      number(event.payload, "type", 0) == SETUP;
	uint64_t i, length = bt_field_array_get_length(field);

	for (i = 0; i < length; i++) {
		const bt_field *element =
			bt_field_array_borrow_element_field_by_index_const(field, i);

		if (is_setup && !is_learning)
			visit_setup(stream, i, element, at);
		at = walk(stream, "", element, at);
	}
	return at;
}

/* Returns where the field ends. */
static size_t walk(struct stream *stream, const char *name, const bt_field *field,
		   size_t at)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);
	const bt_field_class_type type = bt_field_class_get_type(class);
	uint64_t i, count;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER)) {
		const size_t size =
			bt_field_class_integer_get_field_value_range(class) / 8;

		if (!is_learning)
			visit_integer(stream, name, field, at, size);
		return at + size;
	}
	if (type == BT_FIELD_CLASS_TYPE_STRING) {
		if (!strcmp(name, "procname"))
			return at + TEXT_OF_PROCNAME;
		if (!is_learning)
			visit_text(stream, name, field, at);
		return at + bt_field_string_get_length(field) + 1;
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return walk_array(stream, name, field, at);
	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		count = bt_field_class_structure_get_member_count(class);
		for (i = 0; i < count; i++)
			at = walk(
				stream,
				bt_field_class_structure_member_get_name(
					bt_field_class_structure_borrow_member_by_index_const(
						class, i)),
				bt_field_structure_borrow_member_field_by_index_const(
					field, i),
				at);
		return at;
	}
	if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		return at + 4;
	if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		return at + 8;
	die("a field of a type that is not known", event.name);
}

/* ---- Events ---- */

static uint64_t u64_at(const struct stream *stream, size_t at)
{
	uint64_t number;

	memcpy(&number, stream->bytes + at, sizeof(number));
	return number;
}

static void learn(uint64_t now)
{
	times = grow(times, time_count, &time_room, sizeof(*times));
	times[time_count++] = now;
	if (is_of("tap:comm") || is_of("tap:statedump_comm"))
		learn_rank(event.pid, number(event.payload, "rank", -1));
	if (member(event.payload, "qp_num") && member(event.payload, "qp_context"))
		learn_queue(event.pid, (uint64_t) number(event.payload, "qp_num", 0));
	if (strcmp(event.name, "nccl:ncclAllReduce_entry"))
		return;
	entries = grow(entries, entry_count, &entry_room, sizeof(*entries));
	entries[entry_count++] = (struct entry){
		.number = (uint64_t) number(event.payload, "op_number", 0),
		.call = (uint64_t) number(event.payload, "call_id", 0),
		.rank = event.rank,
	};
}

/* Where the header of an event ends; its time is the last of it. */
static size_t after_header(const struct stream *stream, size_t at)
{
	const uint8_t *bytes = stream->bytes + at;

	if (stream->is_compact)
		return at + ((bytes[0] & 31) == 31 ? 13 : 4);
	return at + (bytes[0] == 255 && bytes[1] == 255 ? 14 : 6);
}

static void take_event(struct stream *stream, const bt_message *message)
{
	const bt_event *from = bt_message_event_borrow_event_const(message);
	const bt_field *common = bt_event_borrow_common_context_field_const(from),
		       *specific = bt_event_borrow_specific_context_field_const(from);
	const uint64_t now = bt_clock_snapshot_get_value(
		bt_message_event_borrow_default_clock_snapshot_const(message));
	const size_t begin = stream->at;

	event.name = bt_event_class_get_name(bt_event_borrow_class_const(from));
	event.payload = bt_event_borrow_payload_field_const(from);
	event.pid = number(common, "vpid", -1);
	event.rank = rank_of(event.pid);
	/* Most events have a short header, which begins with what class they are of. */
	if (!stream->is_compact && !(stream->bytes[begin] == 255) &&
	    stream->bytes[begin] + 256u * stream->bytes[begin + 1] !=
		    bt_event_class_get_id(bt_event_borrow_class_const(from)))
		die("an event is not where the one before it ends", event.name);
	stream->at = after_header(stream, begin);
	if (!is_learning && !stream->cut && now > middle) {
		stream->cut_packet = stream->packet;
		stream->cut = begin;
	}
	if (is_learning)
		learn(now);
	if (common)
		stream->at = walk(stream, "", common, stream->at);
	if (specific)
		stream->at = walk(stream, "", specific, stream->at);
	if (event.payload)
		stream->at = walk(stream, "", event.payload, stream->at);
	if (stream->at > stream->end)
		die("an event is longer than its packet", event.name);
}

static void begin_packet(struct stream *stream)
{
	size_t next = stream->packet + u64_at(stream, stream->packet + PACKET_AT) / 8;

	if (stream->at && stream->at != stream->end)
		die("a packet does not end where its size says", stream->name);
	if (stream->at)
		stream->packet = next;
	if (stream->packet + EVENTS_AT > stream->size)
		die("a packet is missing", stream->name);
	stream->at = stream->packet + EVENTS_AT;
	stream->end = stream->packet + u64_at(stream, stream->packet + CONTENT_AT) / 8;
}

/* ---- Reading ---- */

static struct stream *find_stream(const bt_stream *of)
{
	const uint64_t class = bt_stream_class_get_id(bt_stream_borrow_class_const(of));
	size_t i;

	for (i = 0; i < stream_count; i++)
		if (streams[i].class == class && streams[i].id == bt_stream_get_id(of))
			return &streams[i];
	die("a stream has no file of its own", "template");
}

static void take(const bt_message *message)
{
	const bt_stream *of;

	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_PACKET_BEGINNING) {
		of = bt_packet_borrow_stream_const(
			bt_message_packet_beginning_borrow_packet_const(message));
		begin_packet(find_stream(of));
	} else if (bt_message_get_type(message) == BT_MESSAGE_TYPE_EVENT) {
		of = bt_event_borrow_stream_const(
			bt_message_event_borrow_event_const(message));
		take_event(find_stream(of), message);
	}
}

static bt_message_iterator *iterators[STREAMS_MAX];
static uint64_t iterator_count;

static bt_component_class_initialize_method_status
init(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
     const bt_value *params, void *data)
{
	const uint64_t count = *(uint64_t *) data;
	char name[32];
	uint64_t i;

	(void) configuration;
	(void) params;
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "in%" PRIu64, i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL))
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
configured(bt_self_component_sink *self)
{
	const uint64_t count = bt_component_sink_get_input_port_count(
		bt_self_component_sink_as_component_sink(self));

	for (iterator_count = 0; iterator_count < count; iterator_count++)
		if (bt_message_iterator_create_from_sink_component(
			    self,
			    bt_self_component_sink_borrow_input_port_by_index(
				    self, iterator_count),
			    &iterators[iterator_count]))
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* One stream after the other. */
static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *self)
{
	bt_message_array_const messages;
	uint64_t i, count;

	(void) self;
	while (iterator_count) {
		switch (bt_message_iterator_next(iterators[iterator_count - 1], &messages,
						 &count)) {
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
			for (i = 0; i < count; i++) {
				take(messages[i]);
				bt_message_put_ref(messages[i]);
			}
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
			bt_message_iterator_put_ref(iterators[--iterator_count]);
			break;
		default:
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
		}
	}
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
}

static void read_template(const char *path)
{
	const bt_plugin *ctf = NULL;
	const bt_component_source *source = NULL;
	const bt_component_sink *sink = NULL;
	bt_component_class_sink *class = bt_component_class_sink_create("taker", consume);
	bt_graph *graph = bt_graph_create(0);
	bt_value *params = bt_value_map_create(), *inputs;
	uint64_t i, count;

	for (i = 0; i < stream_count; i++)
		streams[i].packet = streams[i].at = 0;
	bt_component_class_sink_set_initialize_method(class, init);
	bt_component_class_sink_set_graph_is_configured_method(class, configured);
	bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &ctf);
	if (!ctf)
		die("there is no plugin ctf", "babeltrace2");
	bt_value_map_insert_empty_array_entry(params, "inputs", &inputs);
	bt_value_array_append_string_element(inputs, path);
	if (bt_graph_add_source_component(
		    graph,
		    bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs"),
		    "source", params, BT_LOGGING_LEVEL_NONE, &source))
		die("cannot be read", path);
	count = bt_component_source_get_output_port_count(source);
	if (count > STREAMS_MAX ||
	    bt_graph_add_sink_component_with_initialize_method_data(
		    graph, class, "taker", NULL, &count, BT_LOGGING_LEVEL_NONE, &sink))
		die("has too many streams", path);
	for (i = 0; i < count; i++)
		if (bt_graph_connect_ports(
			    graph,
			    bt_component_source_borrow_output_port_by_index_const(source,
										  i),
			    bt_component_sink_borrow_input_port_by_index_const(sink, i),
			    NULL))
			die("cannot be connected", path);
	if (bt_graph_run(graph))
		die("cannot be read to its end", path);
	for (i = 0; i < stream_count; i++)
		if (streams[i].at != streams[i].end)
			die("a packet does not end where its size says", streams[i].name);
	bt_value_put_ref(params);
	bt_graph_put_ref(graph);
	bt_component_class_put_ref(bt_component_class_sink_as_component_class(class));
	bt_plugin_put_ref(ctf);
}

/* ---- The files ---- */

static uint8_t *read_file(const char *folder, const char *name, size_t *ret_size)
{
	char path[PATH_MAX];
	struct stat status;
	uint8_t *bytes;
	size_t done = 0;
	int fd;

	join(path, folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		die("cannot be read", path);
	*ret_size = (size_t) status.st_size;
	bytes = malloc(*ret_size + 1);
	while (bytes && done < *ret_size) {
		const ssize_t length = read(fd, bytes + done, *ret_size - done);

		if (length <= 0)
			die("cannot be read", path);
		done += (size_t) length;
	}
	close(fd);
	if (!bytes)
		die("out of memory", path);
	bytes[*ret_size] = '\0';
	return bytes;
}

/* LTTng writes "stream {\n\tid = 0;\n\tevent.header := struct event_header_large;". */
static bool is_compact(uint64_t class)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\tid = %" PRIu64 ";\n\tevent.header := struct ",
		 class);
	at = memmem(metadata, metadata_size, key, strlen(key));
	if (!at)
		die("its metadata is not LTTng's", "template");
	return !strncmp(at + strlen(key), "event_header_compact", 20);
}

static void load(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	if (!folder)
		die("cannot be opened", path);
	metadata = (char *) read_file(path, "metadata", &metadata_size);
	while ((entry = readdir(folder))) {
		struct stream *stream = &streams[stream_count];

		if (*entry->d_name == '.' || !strcmp(entry->d_name, "metadata") ||
		    !strcmp(entry->d_name, "index"))
			continue;
		if (stream_count == STREAMS_MAX)
			die("has too many streams", path);
		snprintf(stream->name, sizeof(stream->name), "%s", entry->d_name);
		stream->bytes = read_file(path, stream->name, &stream->size);
		if (!stream->size) {
			free(stream->bytes);
			continue;
		}
		stream->class = (uint32_t) u64_at(stream, STREAM_CLASS_AT);
		stream->id = u64_at(stream, STREAM_AT);
		stream->is_hot = strstr(stream->name, "hot");
		stream->is_compact = is_compact(stream->class);
		stream_count++;
	}
	closedir(folder);
}

static void find_value(const char *key, char *value, size_t size)
{
	const char *at = memmem(metadata, metadata_size, key, strlen(key));

	if (!at)
		die("its metadata lacks a value", key);
	at += strlen(key);
	snprintf(value, size, "%.*s", (int) strcspn(at, "\""), at);
}

static void find_names(void)
{
	const char *clock = memmem(metadata, metadata_size, "clock {", 7);
	const char *uuid = clock ? strstr(clock, "uuid = \"") : NULL;

	find_value("hostname = \"", template_name, sizeof(template_name));
	if (strlen(template_name) < DIGITS ||
	    strspn(template_name + strlen(template_name) - DIGITS, "0123456789") !=
		    DIGITS)
		die("the name does not end in four digits", template_name);
	if (!uuid)
		die("its clock has no number", "template");
	snprintf(boot, sizeof(boot), "%.36s", uuid + strlen("uuid = \""));
}

/* ---- What follows from it ---- */

static int compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;

	return (a > b) - (a < b);
}

static void conclude(void)
{
	uint64_t last = 0;
	size_t i;

	qsort(times, time_count, sizeof(*times), compare);
	middle = time_count ? times[time_count / 2] : 0;
	for (i = 0; i < entry_count; i++)
		if (entries[i].number > last)
			last = entries[i].number;
	/* Not among the first, which are not like the others. */
	wrong_number = last * 2 / 3;
	wrong_rank = (int) (options.seed % (unsigned int) (rank_count ? rank_count : 1));
	for (i = 0; i < entry_count; i++)
		if (entries[i].number == wrong_number && entries[i].rank == wrong_rank)
			wrong_call = entries[i].call;
	printf("%zu events, %d ranks, %" PRIu64
	       " operations; rank %d is wrong in %" PRIu64 "\n",
	       time_count, rank_count, last, wrong_rank, wrong_number);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
	a ^= a >> 29;
	a *= UINT64_C(0xbf58476d1ce4e5b9);
	return a ^ a >> 32;
}

/* ---- A host ---- */

static void put(uint8_t *bytes, const struct patch *patch, uint64_t value)
{
	memcpy(bytes + patch->at, &value, patch->size);
}

/* The host of `peer` as a rank of this host sees it. */
static unsigned int host_of_peer(unsigned int host, int rank, int peer)
{
	const int last = rank_count - 1;

	if (last > 1 && rank == last && peer == 0)
		return (host + 1) % options.hosts;
	if (last > 1 && rank == 0 && peer == last)
		return (host + options.hosts - 1) % options.hosts;
	return host;
}

static void name_host(char *name, unsigned int host)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%0*u", DIGITS, host);
	memcpy(name + strlen(template_name) - DIGITS, digits, DIGITS);
}

static void name_boot(char *name, unsigned int host)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%08x", host + 1);
	memcpy(name, digits, 8);
}

static void apply(uint8_t *bytes, const struct patch *patch, unsigned int host)
{
	const unsigned int ranks = (unsigned int) rank_count;
	char digits[8];

	switch ((enum rule) patch->rule) {
	case OWN_RANK:
		put(bytes, patch, host * ranks + patch->value);
		break;
	case PEER_RANK:
		put(bytes, patch,
		    (int64_t) patch->value < 0
			    ? patch->value
			    : host_of_peer(host, patch->rank, (int) patch->value) *
					      ranks +
				      patch->value);
		break;
	case ALL_RANKS:
		put(bytes, patch, options.hosts * ranks);
		break;
	case OWN_GID:
		put(bytes, patch, patch->value + host);
		break;
	case PEER_GID:
		put(bytes, patch,
		    patch->value + host_of_peer(host, patch->rank, patch->peer));
		break;
	case NAME:
		name_host((char *) bytes + patch->at, host);
		break;
	case BOOT:
		name_boot((char *) bytes + patch->at, host);
		break;
	case ADDRESS:
		snprintf(digits, sizeof(digits), "%u.%u", 100 + host % 100,
			 host / 100 % 10);
		memcpy(bytes + patch->at, digits, 5);
		break;
	case OTHER:
		if (options.wrong == (int) host)
			put(bytes, patch, patch->value);
		break;
	case FAILED:
		if (options.failed == (int) host)
			put(bytes, patch, patch->value);
		break;
	}
}

static void write_all(int fd, const uint8_t *bytes, size_t size, const char *path)
{
	while (size) {
		const ssize_t length = write(fd, bytes, size);

		if (length <= 0)
			die("cannot be written", path);
		bytes += length;
		size -= (size_t) length;
	}
}

static bool is_lost(const struct stream *stream, size_t at, unsigned int host)
{
	if (options.cut == (int) host && stream->cut && at > stream->cut_packet)
		return true;
	return stream->is_hot && at &&
	       mix(mix(options.seed, host), mix(stream->id, at)) % 1000 < options.loss;
}

static void write_stream(const struct stream *stream, const char *folder,
			 unsigned int host, uint8_t *room)
{
	char path[PATH_MAX];
	size_t i, at, size;
	int fd;

	memcpy(room, stream->bytes, stream->size);
	for (i = 0; i < stream->count; i++)
		apply(room, &stream->patches[i], host);
	if (options.cut == (int) host && stream->cut) {
		size = (stream->cut - stream->cut_packet) * 8;
		memcpy(room + stream->cut_packet + CONTENT_AT, &size, sizeof(size));
	}
	join(path, folder, stream->name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		die("cannot be made", path);
	for (at = 0; at < stream->size; at += size) {
		size = u64_at(stream, at + PACKET_AT) / 8;
		if (!is_lost(stream, at, host))
			write_all(fd, room + at, size, path);
	}
	close(fd);
}

/* The same number of digits. */
static void skew_clock(char *text, unsigned int host)
{
	static const char key[] = "offset = ";
	char *at = strstr(text, "clock {");
	char digits[32];
	size_t length;

	at = at ? strstr(at, key) : NULL;
	if (!at || !options.skew_ns)
		return;
	at += strlen(key);
	length = strspn(at, "0123456789");
	snprintf(digits, sizeof(digits), "%0*" PRId64, (int) length,
		 (int64_t) strtoull(at, NULL, 10) +
			 (int64_t) (mix(options.seed, host + 77) %
				    (2 * (uint64_t) options.skew_ns)) -
			 options.skew_ns);
	if (strlen(digits) == length)
		memcpy(at, digits, length);
}

static void write_metadata(const char *folder, unsigned int host)
{
	char path[PATH_MAX];
	char *text = malloc(metadata_size + 1), *at;
	int fd;

	if (!text)
		die("out of memory", folder);
	memcpy(text, metadata, metadata_size + 1);
	at = memmem(text, metadata_size, "hostname = \"", 12);
	name_host(at + 12, host);
	for (at = text;
	     (at = memmem(at, metadata_size - (size_t) (at - text), boot, strlen(boot)));
	     at++)
		name_boot(at, host);
	at = memmem(text, metadata_size, "clock {", 7);
	skew_clock(at, host);
	join(path, folder, "metadata");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		die("cannot be made", path);
	write_all(fd, (const uint8_t *) text, metadata_size, path);
	close(fd);
	free(text);
}

static void write_host(const char *to, unsigned int host, uint8_t *room)
{
	char name[256], above[PATH_MAX], folder[PATH_MAX];
	size_t i;

	snprintf(name, sizeof(name), "%s", template_name);
	name_host(name, host);
	join(above, to, name);
	mkdir(above, 0777);
	join(folder, above, "trace");
	if (mkdir(folder, 0777))
		die("cannot be made", folder);
	write_metadata(folder, host);
	for (i = 0; i < stream_count; i++)
		write_stream(&streams[i], folder, host, room);
}

/* ---- The command ---- */

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{"seed", required_argument, NULL, 's'},
		{"skew", required_argument, NULL, 'k'},
		{"loss", required_argument, NULL, 'l'},
		{"failed", required_argument, NULL, 'f'},
		{"wrong", required_argument, NULL, 'w'},
		{"cut", required_argument, NULL, 'c'},
		{"from", required_argument, NULL, 'b'},
		{"to", required_argument, NULL, 't'},
		{0},
	};
	size_t i, largest = 0;
	unsigned int host;
	uint8_t *room;
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		const long long value = optarg ? atoll(optarg) : 0;

		if (c == 's')
			options.seed = (unsigned int) value;
		else if (c == 'k')
			options.skew_ns = value;
		else if (c == 'l')
			options.loss = (unsigned int) value;
		else if (c == 'f')
			options.failed = (int) value;
		else if (c == 'w')
			options.wrong = (int) value;
		else if (c == 'c')
			options.cut = (int) value;
		else if (c == 'b')
			options.from = (unsigned int) value;
		else if (c == 't')
			options.to = (unsigned int) value;
		else
			return 2;
	}
	if (argc - optind != 3)
		return 2;
	options.hosts = (unsigned int) atoi(argv[optind + 2]);
	if (!options.hosts || options.hosts > 1000)
		die("needs 1 to 1000 hosts", argv[optind + 2]);
	load(argv[optind]);
	find_names();
	is_learning = true;
	wrong_rank = -1;
	read_template(argv[optind]);
	conclude();
	is_learning = false;
	read_template(argv[optind]);
	for (i = 0; i < stream_count; i++)
		if (streams[i].size > largest)
			largest = streams[i].size;
	room = malloc(largest);
	if (!room)
		die("out of memory", argv[optind]);
	mkdir(argv[optind + 1], 0777);
	for (host = options.from; host < options.hosts && host <= options.to; host++)
		write_host(argv[optind + 1], host, room);
	return 0;
}
