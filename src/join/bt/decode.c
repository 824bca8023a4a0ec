/* SPDX-License-Identifier: MIT */
/* One plan per event class: the type and the role of each member. */
#include "join/bt/decode.h"

#include "join/bt/decode_field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A longer name of a span becomes a field. */
#define NAME_MAX_BYTES 1024

enum role {
	ROLE_FIELD,
	ROLE_NAME,  /* of the span */
	ROLE_GIVEN, /* which of the fields after it are given */
	ROLE_NONE,  /* the length of an array, which the array has, too */
	ROLE_CALL_ID,
	ROLE_PARENT_ID,
	ROLE_CALLER_LIBRARY,
	ROLE_CALLER_OFFSET,
	ROLE_INNER,
	ROLE_STACK_ID,
	ROLE_RESULT, /* of a call that has one event */
	ROLE_END,    /* when work on a GPU ended */
	ROLE_NAME_NUMBER,
	ROLE_BEGIN, /* when the call began that this event ends */
	ROLE_COMM_ID,
	ROLE_COMM_KEY,
	ROLE_OP_NUMBER,
	ROLE_NOT_COUNTED,
	ROLE_GROUP_ID,
	/* Arguments that the join reads; they stay fields. */
	ROLE_PEER,
	ROLE_COUNT,
	ROLE_DATATYPE,
	ROLE_REDOP,
	ROLE_ROOT,
};

struct member {
	struct tap_field_plan plan;
	enum role role;
};

/* Indexes of members in a context, or -1. */
struct context {
	int pid;
	int tid;
	int pid_namespace;
};

struct tap_event_class {
	const bt_event_class *class; /* a reference: names and labels are its own */
	enum tap_event_kind kind;
	enum tap_verbs_event verbs;
	enum tap_gpu_event gpu;
	enum tap_net_event net;
	const struct tap_name *name;
	const char *named_by; /* the member with the span's name, or NULL */
	bool is_range;
	bool has_clock;
	int64_t clock_offset_ns; /* from the tracer's clock to ours */
	struct context common;
	struct context specific;
	size_t member_count;
	struct member members[];
};

struct tap_decoder {
	struct tap_join *join;
	struct tap_table classes; /* by bt_event_class */
	struct tap_table traces;  /* by bt_trace */
	/* What was asked for last: often all events are of one trace. */
	const bt_trace *last_trace;
	struct tap_trace *last_found;
	struct trace_reference {
		const bt_trace *trace; /* a reference: its address stays its own */
		const struct tap_trace *found;
		struct trace_reference *next;
	} * references;
};

struct tap_decoder *tap_decoder_create(struct tap_join *join)
{
	struct tap_decoder *decoder = calloc(1, sizeof(*decoder));

	if (decoder)
		decoder->join = join;
	return decoder;
}

void tap_decoder_destroy(struct tap_decoder *decoder)
{
	struct trace_reference *reference;
	size_t i;

	if (!decoder)
		return;
	for (i = 0; i < decoder->classes.size; i++) {
		struct tap_event_class *class = decoder->classes.slots[i].value;

		if (!class)
			continue;
		bt_event_class_put_ref(class->class);
		free(class);
	}
	while ((reference = decoder->references)) {
		decoder->references = reference->next;
		bt_trace_put_ref(reference->trace);
		free(reference);
	}
	tap_table_free(&decoder->classes);
	tap_table_free(&decoder->traces);
	free(decoder);
}

/* ---- Traces ---- */

static const char *environment_string(const bt_trace *trace, const char *name)
{
	const bt_value *value =
		bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

static int64_t environment_pid(const bt_trace *trace)
{
	const bt_value *value =
		bt_trace_borrow_environment_entry_value_by_name_const(trace, "vpid");
	int64_t pid = -1;

	if (value && bt_value_is_signed_integer(value))
		pid = bt_value_integer_signed_get(value);
	return pid < 0 ? -1 : pid;
}

/*
 * What the parts of one recording have in common, in 16 bytes; NULL: nothing. A recording
 * whose relay daemon was gone goes on in another session, so in a trace with another
 * number but of the same name, which `ccltap record` gives to no other recording.
 */
static const unsigned char *find_identity(const bt_trace *trace, uint64_t room[2])
{
	static const char ours[] = "ccltap-";
	const char *name = environment_string(trace, "trace_name");

	if (!name || strncmp(name, ours, strlen(ours)))
		return bt_trace_get_uuid(trace);
	room[0] = tap_table_hash(name);
	room[1] = tap_table_hash(name + strlen(ours));
	return (const unsigned char *) room;
}

static struct tap_trace *find_trace(struct tap_decoder *decoder, const bt_trace *trace)
{
	struct trace_reference *reference;
	struct tap_trace *found;
	const char *host;
	uint64_t room[2];

	if (trace == decoder->last_trace)
		return decoder->last_found;
	found = tap_table_find(&decoder->traces, (uintptr_t) trace, 0);
	if (found) {
		decoder->last_trace = trace;
		decoder->last_found = found;
		return found;
	}
	host = environment_string(trace, "hostname");
	found = tap_join_add_trace(decoder->join, host ? host : "",
				   find_identity(trace, room), environment_pid(trace));
	reference = malloc(sizeof(*reference));
	if (!found || !reference ||
	    tap_table_set(&decoder->traces, (uintptr_t) trace, 0, found)) {
		free(reference);
		return NULL;
	}
	bt_trace_get_ref(trace);
	reference->trace = trace;
	reference->found = found;
	reference->next = decoder->references;
	decoder->references = reference;
	return found;
}

const bt_trace *tap_decoder_find_trace(const struct tap_decoder *decoder,
				       const struct tap_trace *trace)
{
	const struct trace_reference *reference = decoder->references;

	while (reference && reference->found != trace)
		reference = reference->next;
	return reference ? reference->trace : NULL;
}

/* The number of the boot, which LTTng gives its clock; NULL unknown. */
static const unsigned char *find_boot(const bt_stream *stream)
{
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
		bt_stream_borrow_class_const(stream));

	return clock ? bt_clock_class_get_uuid(clock) : NULL;
}

struct tap_trace *tap_decoder_add_stream(struct tap_decoder *decoder,
					 const bt_stream *stream)
{
	struct tap_trace *trace =
		find_trace(decoder, bt_stream_borrow_trace_const(stream));

	return trace && !tap_join_set_clock(decoder->join, trace, find_boot(stream))
		       ? trace
		       : NULL;
}

/* ---- Classes ---- */

static bool ends_with(const char *string, size_t length, const char *end)
{
	size_t end_length = strlen(end);

	return length > end_length &&
	       !memcmp(string + length - end_length, end, end_length);
}

/* The kind of an event of the layer "tap". */
static enum tap_event_kind find_kind(const char *name)
{
	static const struct {
		const char *name;
		enum tap_event_kind kind;
	} kinds[] = {
		{"process", TAP_EVENT_PROCESS},
		{"library", TAP_EVENT_LIBRARY},
		{"environment", TAP_EVENT_ENVIRONMENT},
		{"problem", TAP_EVENT_PROBLEM},
		{"comm", TAP_EVENT_COMM},
		{"stack", TAP_EVENT_STACK},
		{"open_call", TAP_EVENT_OPEN_CALL},
		{"process_end", TAP_EVENT_PROCESS_END},
		{"sample", TAP_EVENT_SAMPLE},
		{"ccl_thread", TAP_EVENT_CCL_THREAD},
		{"ccl_thread_does", TAP_EVENT_CCL_THREAD_DOES},
		{"ccl_thread_sleep", TAP_EVENT_CCL_THREAD_SLEEP},
		{"ccl_thread_wake", TAP_EVENT_CCL_THREAD_WAKE},
		{"ccl_thread_end", TAP_EVENT_CCL_THREAD_END},
		{"statedump_process", TAP_EVENT_STATEDUMP_PROCESS},
		{"statedump_library", TAP_EVENT_STATEDUMP_LIBRARY},
		{"statedump_environment", TAP_EVENT_STATEDUMP_ENVIRONMENT},
		{"statedump_comm", TAP_EVENT_STATEDUMP_COMM},
		{"statedump_thread", TAP_EVENT_STATEDUMP_THREAD},
		{"statedump_ccl_thread", TAP_EVENT_STATEDUMP_CCL_THREAD},
		{"statedump_stack", TAP_EVENT_STATEDUMP_STACK},
		{"statedump_end", TAP_EVENT_STATEDUMP_END},
		{"statedump_function", TAP_EVENT_FUNCTION},
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(name, kinds[i].name))
			return kinds[i].kind;
	return TAP_EVENT_OTHER;
}

/* Events that NVTX reports have one class for all names. */
static void set_reported(struct tap_event_class *class, const char *name)
{
	if (!strncmp(name, "nccl:nvtx_", 10)) {
		class->named_by = "function";
	} else if (!strncmp(name, "nvtx:", 5)) {
		class->named_by = "name";
		class->is_range = true;
	}
}

/*
 * Whether it is a call of the CUDA driver with one event, whatever its name: such an
 * event has the time when the call began, and a newer tracer may know more of these
 * calls.
 */
static bool is_work(const bt_event_class *class)
{
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(class);

	return payload &&
	       bt_field_class_structure_borrow_member_by_name_const(payload, "call_id") &&
	       bt_field_class_structure_borrow_member_by_name_const(payload, "begin_ns");
}

/* Sets the kind of an event named layer:call_entry, its layer and call. */
static int set_name(struct tap_decoder *decoder, struct tap_event_class *class)
{
	const char *name = bt_event_class_get_name(class->class);
	const char *colon = name ? strchr(name, ':') : NULL;
	size_t length;

	class->kind = TAP_EVENT_OTHER;
	if (!colon || colon == name)
		return 0;
	class->verbs = tap_verbs_event(name);
	if (class->verbs != TAP_VERBS_NONE)
		class->kind = TAP_EVENT_VERBS;
	/*
	 * A thread that waits for an event of a completion channel is in no numbered
	 * call.
	 */
	if (class->kind == TAP_EVENT_VERBS || !strncmp(name, "verbs:comp_event_", 17))
		return 0;
	class->gpu = tap_gpu_event(name);
	if (!strncmp(name, "gpu:", 4)) {
		if (class->gpu != TAP_GPU_NONE)
			class->kind = TAP_EVENT_GPU;
		return 0;
	}
	class->net = tap_net_event(name);
	if (class->net != TAP_NET_NONE) {
		class->kind = TAP_EVENT_NET;
		return 0;
	}
	if (!strncmp(name, "net:", 4))
		return 0;
	if (!strncmp(name, "tap:", 4)) {
		class->kind = find_kind(colon + 1);
		return 0;
	}
	length = strlen(++colon);
	if (ends_with(colon, length, "_entry")) {
		class->kind = TAP_EVENT_ENTRY;
		length -= strlen("_entry");
	} else if (ends_with(colon, length, "_exit")) {
		class->kind = TAP_EVENT_EXIT;
		length -= strlen("_exit");
	} else if (!strcmp(name, "nvtx:mark")) {
		class->kind = TAP_EVENT_MARK;
	} else if (!strcmp(name, "cuda:function")) {
		class->kind = TAP_EVENT_FUNCTION;
		return 0;
	} else if (!strcmp(name, "cuda:nccl_args")) {
		class->kind = TAP_EVENT_NCCL_ARGS;
		return 0;
	} else if (!strncmp(name, "cuda:", 5) && is_work(class->class)) {
		class->kind = TAP_EVENT_WORK;
	} else {
		return 0;
	}
	set_reported(class, name);
	class->name =
		tap_join_intern(decoder->join, name, colon - 1 - name, colon, length);
	return class->name ? 0 : -ENOMEM;
}

static struct context find_context(const bt_field_class *class)
{
	struct context context = {-1, -1, -1};
	uint64_t i, count;

	if (!class || bt_field_class_get_type(class) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return context;
	count = bt_field_class_structure_get_member_count(class);
	for (i = 0; i < count; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(class, i);
		const char *name = bt_field_class_structure_member_get_name(member);
		bt_field_class_type type = bt_field_class_get_type(
			bt_field_class_structure_member_borrow_field_class_const(member));

		if (!bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER))
			continue;
		if (!strcmp(name, "vpid"))
			context.pid = (int) i;
		else if (!strcmp(name, "vtid"))
			context.tid = (int) i;
		else if (!strcmp(name, "pid_ns"))
			context.pid_namespace = (int) i;
	}
	return context;
}

/*
 * Whether the member is the length of an array: LTTng writes that of "x" before it as
 * "_x_length".
 */
static bool is_array_length(const bt_field_class *payload, const char *name)
{
	size_t length = strlen(name);
	char array[256];

	if (!ends_with(name, length, "_length") || length >= sizeof(array))
		return false;
	memcpy(array, name, length);
	array[length - strlen("_length")] = '\0';
	return *array == '_' &&
	       bt_field_class_structure_borrow_member_by_name_const(payload, array + 1);
}

/* The events in which members have roles by their names. */
enum {
	OF_ENTRY = 1,	  /* of a call, or a mark */
	OF_CUDA = 2,	  /* of a call of the driver, with one event or two */
	OF_EXIT = 4,	  /* other members may be values that the call returns */
	OF_NCCL_ARGS = 8, /* of a launch */
	OF_CALLS = OF_ENTRY | OF_CUDA,
};

static unsigned int find_events(const struct tap_event_class *class)
{
	switch (class->kind) {
	case TAP_EVENT_EXIT:
		return OF_EXIT;
	case TAP_EVENT_NCCL_ARGS:
		return OF_NCCL_ARGS;
	case TAP_EVENT_WORK:
		return OF_CUDA;
	case TAP_EVENT_ENTRY:
	case TAP_EVENT_MARK:
		return class->name && !strcmp(class->name->layer, "cuda") ? OF_CUDA
									  : OF_ENTRY;
	default:
		return 0;
	}
}

/* The role of an argument of a call of NCCL in its operation. */
static enum role find_argument(const struct tap_event_class *class,
			       const struct tap_field_plan *member)
{
	const bool is_unsigned = tap_field_is_unsigned(member->type);

	switch (tap_call_role(class->name ? class->name->row : NULL, member->name)) {
	case TAP_ROLE_COMM_ID:
		return is_unsigned ? ROLE_COMM_ID : ROLE_FIELD;
	case TAP_ROLE_COMM_KEY:
		return is_unsigned ? ROLE_COMM_KEY : ROLE_FIELD;
	case TAP_ROLE_COUNT:
		return is_unsigned ? ROLE_COUNT : ROLE_FIELD;
	case TAP_ROLE_PEER:
		return ROLE_PEER;
	case TAP_ROLE_DATATYPE:
		return ROLE_DATATYPE;
	case TAP_ROLE_REDOP:
		return ROLE_REDOP;
	case TAP_ROLE_ROOT:
		return ROLE_ROOT;
	default:
		return ROLE_FIELD;
	}
}

static enum role find_role(const struct tap_event_class *class,
			   const struct tap_field_plan *member)
{
	static const struct {
		const char *name;
		enum role role;
		unsigned int events;
	} roles[] = {
		{"call_id", ROLE_CALL_ID, OF_CALLS | OF_EXIT | OF_NCCL_ARGS},
		{"group_id", ROLE_GROUP_ID, OF_CALLS | OF_EXIT},
		{"parent_id", ROLE_PARENT_ID, OF_CALLS},
		{"caller_library", ROLE_CALLER_LIBRARY, OF_ENTRY},
		{"caller_offset", ROLE_CALLER_OFFSET, OF_ENTRY},
		{"inner", ROLE_INNER, OF_ENTRY},
		{"stack_id", ROLE_STACK_ID, OF_ENTRY},
		{"op_number", ROLE_OP_NUMBER, OF_ENTRY},
		{"not_counted", ROLE_NOT_COUNTED, OF_ENTRY},
	};
	const unsigned int events = find_events(class);
	size_t i;

	if (class->named_by && member->type == BT_FIELD_CLASS_TYPE_STRING &&
	    !strcmp(member->name, class->named_by))
		return ROLE_NAME;
	if (!bt_field_class_type_is(member->type, BT_FIELD_CLASS_TYPE_INTEGER))
		return ROLE_FIELD;
	if (class->named_by && !strcmp(member->name, "given") &&
	    tap_field_is_unsigned(member->type))
		return ROLE_GIVEN;
	if ((class->kind == TAP_EVENT_VERBS || class->kind == TAP_EVENT_WORK ||
	     class->kind == TAP_EVENT_NET) &&
	    !strcmp(member->name, "begin_ns") && tap_field_is_unsigned(member->type))
		return ROLE_BEGIN;
	if (class->kind == TAP_EVENT_GPU && tap_field_is_unsigned(member->type)) {
		if (!strcmp(member->name, "start_ns"))
			return ROLE_BEGIN;
		if (!strcmp(member->name, "end_ns"))
			return ROLE_END;
		if (!strcmp(member->name, "name"))
			return ROLE_NAME_NUMBER;
	}
	if (class->kind == TAP_EVENT_WORK && !strcmp(member->name, "result"))
		return ROLE_RESULT;
	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (roles[i].events & events && !strcmp(member->name, roles[i].name) &&
		    tap_field_is_unsigned(member->type))
			return roles[i].role;
	return events & OF_ENTRY ? find_argument(class, member) : ROLE_FIELD;
}

static void plan_member(const struct tap_event_class *class,
			const bt_field_class *payload, uint64_t index,
			struct member *member)
{
	const bt_field_class_structure_member *from =
		bt_field_class_structure_borrow_member_by_index_const(payload, index);
	const bt_field_class *type =
		bt_field_class_structure_member_borrow_field_class_const(from);

	tap_field_plan_set(&member->plan, bt_field_class_structure_member_get_name(from),
			   type);
	member->role = is_array_length(payload, member->plan.name)
			       ? ROLE_NONE
			       : find_role(class, &member->plan);
}

/* Times in fields use LTTng's clock, which counts ns. */
static int64_t find_clock_offset(const bt_stream_class *stream)
{
	const bt_clock_class *clock =
		bt_stream_class_borrow_default_clock_class_const(stream);
	int64_t seconds, offset_ns;
	uint64_t cycles;

	if (!clock)
		return 0;
	bt_clock_class_get_offset(clock, &seconds, &cycles);
	if (__builtin_mul_overflow(seconds, INT64_C(1000000000), &offset_ns) ||
	    __builtin_add_overflow(offset_ns, (int64_t) cycles, &offset_ns))
		return 0;
	return offset_ns;
}

static struct tap_event_class *plan_class(struct tap_decoder *decoder,
					  const bt_event_class *from)
{
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(from);
	const bt_stream_class *stream = bt_event_class_borrow_stream_class_const(from);
	uint64_t i,
		count = payload ? bt_field_class_structure_get_member_count(payload) : 0;
	struct tap_event_class *class =
		calloc(1, sizeof(*class) + count * sizeof(class->members[0]));

	if (!class)
		return NULL;
	class->class = from;
	if (set_name(decoder, class) ||
	    tap_table_set(&decoder->classes, (uintptr_t) from, 0, class)) {
		free(class);
		return NULL;
	}
	bt_event_class_get_ref(from);
	class->has_clock = bt_stream_class_borrow_default_clock_class_const(stream);
	class->clock_offset_ns = find_clock_offset(stream);
	class->common = find_context(
		bt_stream_class_borrow_event_common_context_field_class_const(stream));
	class->specific = find_context(
		bt_event_class_borrow_specific_context_field_class_const(from));
	class->member_count = count;
	for (i = 0; i < count; i++)
		plan_member(class, payload, i, &class->members[i]);
	return class;
}

struct tap_event_class *tap_decoder_class(struct tap_decoder *decoder,
					  const bt_event *event)
{
	const bt_event_class *from = bt_event_borrow_class_const(event);
	struct tap_event_class *class =
		tap_table_find(&decoder->classes, (uintptr_t) from, 0);

	return class ? class : plan_class(decoder, from);
}

bool tap_event_class_is_setup(const struct tap_event_class *class)
{
	switch (class->kind) {
	case TAP_EVENT_VERBS:
		return class->verbs < TAP_VERBS_POST_SEND;
	case TAP_EVENT_NET:
		return class->net < TAP_NET_SEND;
	case TAP_EVENT_GPU:
		return class->gpu == TAP_GPU_NAME || class->gpu == TAP_GPU_GRAPH_NODE;
	case TAP_EVENT_PROCESS:
	case TAP_EVENT_LIBRARY:
	case TAP_EVENT_ENVIRONMENT:
	case TAP_EVENT_COMM:
	case TAP_EVENT_STATEDUMP_PROCESS:
	case TAP_EVENT_STATEDUMP_LIBRARY:
	case TAP_EVENT_STATEDUMP_ENVIRONMENT:
	case TAP_EVENT_STATEDUMP_COMM:
	case TAP_EVENT_STACK:
	case TAP_EVENT_STATEDUMP_STACK:
		return true;
	default:
		return false;
	}
}

bool tap_event_class_has_time(const struct tap_event_class *class)
{
	return class->has_clock;
}

/* ---- Values ---- */

static int64_t get_number(const bt_field *field, int64_t none)
{
	if (!tap_field_is_unsigned(bt_field_get_class_type(field)))
		return bt_field_integer_signed_get_value(field);
	return bt_field_integer_unsigned_get_value(field) > INT64_MAX
		       ? none
		       : (int64_t) bt_field_integer_unsigned_get_value(field);
}

/* The member's number; `none` where there is no such member. */
static int64_t get_member(const bt_field *structure, int index, int64_t none)
{
	return index < 0
		       ? none
		       : get_number(bt_field_structure_borrow_member_field_by_index_const(
					    structure, (uint64_t) index),
				    none);
}

static void read_context(const struct context *context, const bt_field *field,
			 struct tap_event *event)
{
	if (!field)
		return;
	event->pid = get_member(field, context->pid, event->pid);
	event->tid = get_member(field, context->tid, event->tid);
	event->pid_namespace =
		get_member(field, context->pid_namespace, event->pid_namespace);
	if (event->pid < 0)
		event->pid = -1;
	if (event->tid < 0)
		event->tid = -1;
}

static void keep_field(struct tap_decoder *decoder, struct member *member,
		       const bt_field *field, struct tap_event *event)
{
	if (!tap_field_plan_add(&member->plan, field, &event->fields))
		tap_join_loss(decoder->join)->ignored_fields++;
}

/* Reads the span's name; a text that cannot be a name stays a field. */
static void read_name(struct tap_decoder *decoder, struct member *member,
		      const bt_field *field, struct tap_event *event)
{
	const uint64_t length = bt_field_string_get_length(field);
	const struct tap_name *name = event->name;

	if (!length)
		return;
	if (length < NAME_MAX_BYTES)
		name = tap_join_intern_reported(decoder->join, event->name,
						bt_field_string_get_value(field), length);
	if (name && name != event->name)
		event->name = name;
	else
		keep_field(decoder, member, field, event);
}

static void read_member(struct tap_decoder *decoder, struct member *member,
			const bt_field *field, struct tap_event *event)
{
	switch (member->role) {
	case ROLE_NAME:
		read_name(decoder, member, field, event);
		break;
	case ROLE_FIELD:
		keep_field(decoder, member, field, event);
		break;
	case ROLE_GIVEN:
	case ROLE_NONE:
		break;
	case ROLE_CALL_ID:
		event->call_id = bt_field_integer_unsigned_get_value(field);
		event->has_call_id = true;
		break;
	case ROLE_PARENT_ID:
		event->parent_id = bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_CALLER_LIBRARY:
		event->caller_number = bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_CALLER_OFFSET:
		event->caller_offset = bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_INNER:
		event->is_inner = bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_STACK_ID:
		event->stack_id = bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_RESULT:
		event->result = get_number(field, INT64_MAX);
		event->has_result = true;
		break;
	case ROLE_BEGIN:
		event->begin_ns = (int64_t) bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_END:
		event->end_ns = (int64_t) bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_NAME_NUMBER:
		event->name_number = bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_COMM_ID:
		event->operation.comm_id = bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_COMM_KEY:
		event->operation.comm_key = bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_OP_NUMBER:
		event->operation.number = bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_NOT_COUNTED:
		event->operation.not_counted =
			(int64_t) bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_GROUP_ID:
		event->operation.group_id = bt_field_integer_unsigned_get_value(field);
		break;
	case ROLE_PEER:
		event->operation.peer = get_number(field, -1);
		keep_field(decoder, member, field, event);
		break;
	case ROLE_DATATYPE:
		event->operation.datatype = get_number(field, -1);
		keep_field(decoder, member, field, event);
		break;
	case ROLE_REDOP:
		event->operation.redop = get_number(field, -1);
		keep_field(decoder, member, field, event);
		break;
	case ROLE_ROOT:
		event->operation.root = get_number(field, -1);
		keep_field(decoder, member, field, event);
		break;
	case ROLE_COUNT:
		event->operation.count = bt_field_integer_unsigned_get_value(field);
		event->operation.has_count = true;
		keep_field(decoder, member, field, event);
		break;
	}
}

/* A time in a field as one of the reference's clock; 0 unknown. */
static int64_t convert(const struct tap_event_class *class, const struct tap_trace *trace,
		       int64_t field_ns)
{
	int64_t time_ns;

	if (!field_ns ||
	    __builtin_add_overflow(field_ns, class->clock_offset_ns, &time_ns))
		return 0;
	return tap_clock_convert(trace->clock, time_ns);
}

int tap_decoder_event(struct tap_decoder *decoder, struct tap_event_class *class,
		      const bt_event *event, int64_t time_ns, struct tap_event *ret_event)
{
	const bt_field *payload;
	uint64_t left_out = 0; /* a bit for each member from here on */
	size_t i;

	tap_fields_clear(&ret_event->fields);
	ret_event->kind = class->kind;
	ret_event->time_ns = time_ns;
	if (class->kind == TAP_EVENT_OTHER)
		return 0;
	ret_event->name = class->name;
	ret_event->pid = -1;
	ret_event->tid = -1;
	ret_event->pid_namespace = 0;
	ret_event->verbs = class->verbs;
	ret_event->gpu = class->gpu;
	ret_event->net = class->net;
	ret_event->begin_ns = 0;
	ret_event->end_ns = 0;
	ret_event->name_number = 0;
	ret_event->has_call_id = false;
	ret_event->has_result = false;
	ret_event->is_inner = false;
	ret_event->is_from_nvtx = class->named_by;
	ret_event->is_range = class->is_range;
	ret_event->call_id = 0;
	ret_event->parent_id = 0;
	ret_event->caller_number = 0;
	ret_event->caller_offset = 0;
	ret_event->stack_id = 0;
	ret_event->operation = TAP_OPERATION_NONE;
	ret_event->trace =
		find_trace(decoder, bt_stream_borrow_trace_const(
					    bt_event_borrow_stream_const(event)));
	if (!ret_event->trace)
		return -ENOMEM;
	read_context(&class->common, bt_event_borrow_common_context_field_const(event),
		     ret_event);
	read_context(&class->specific,
		     bt_event_borrow_specific_context_field_const(event), ret_event);
	payload = bt_event_borrow_payload_field_const(event);
	for (i = 0; payload && i < class->member_count; i++) {
		const bt_field *field =
			bt_field_structure_borrow_member_field_by_index_const(payload, i);

		if (!(left_out & 1))
			read_member(decoder, &class->members[i], field, ret_event);
		left_out >>= 1;
		if (class->members[i].role == ROLE_GIVEN)
			left_out = ~bt_field_integer_unsigned_get_value(field);
	}
	/* The thread that wrote the event is not the one that launched the work. */
	if (class->kind == TAP_EVENT_GPU)
		ret_event->tid = -1;
	ret_event->end_ns = convert(class, ret_event->trace, ret_event->end_ns);
	ret_event->begin_ns = convert(class, ret_event->trace, ret_event->begin_ns);
	return 0;
}
