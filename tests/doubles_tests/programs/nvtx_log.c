/* SPDX-License-Identifier: MIT */
/*
 * A tool of NVTX's, for NVTX_INJECTION64_PATH: writes down what a library announces, a
 * line for each, in the file NVTX_LOG.  Numbers and forms are those of NVTX 3's own
 * headers.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Of the tables that are filled in: which, how many, and where in them. */
enum { CALLBACKS = 1, CORE = 1, CORE2 = 5 };
enum { NAME_THREAD = 14 };
enum { PUSH = 4, POP = 5, REGISTER_STRING = 10, CREATE_DOMAIN = 12 };
enum { SCHEMA_REGISTER = 0, ENUM_REGISTER = 1, POP_PAYLOAD = 4 };
enum { PAYLOAD_EXTENSION = (int) 0xDFBD0009, PAYLOAD_MODULE = 2 };

/* Types of fields of eight bytes, and what numbers of schemas there are. */
enum { UINT64 = 18, SIZE = 22, MAX_SCHEMAS = 1 << 8 };

typedef void (*function)(void);

struct callbacks {
	size_t size;
	int (*table)(uint32_t module, function ***table, unsigned int *size);
};

struct event {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	/* How many there are, where they have schemas. */
	int32_t count;
	const struct payload *payload;
	int32_t message_type;
	const char *message;
};

struct payload {
	uint64_t schema;
	size_t size;
	const unsigned char *data;
};

struct entry {
	uint64_t flags;
	uint64_t type;
	const char *name;
	const char *description;
	uint64_t detail;
	uint64_t offset;
	const void *semantics;
	const void *reserved;
};

struct schema {
	uint64_t mask;
	const char *name;
	uint64_t type;
	uint64_t flags;
	const struct entry *entries;
	size_t count;
	size_t size;
	size_t alignment;
	uint64_t id;
	void *extension;
};

struct choice {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct enumeration {
	uint64_t mask;
	const char *name;
	const struct choice *entries;
	size_t count;
	size_t size;
	uint64_t id;
	void *extension;
};

struct segment {
	size_t id;
	size_t count;
	intptr_t *slots;
};

struct module {
	uint16_t version;
	uint16_t size;
	uint16_t id;
	uint16_t compatibility;
	size_t segment_count;
	struct segment *segments;
	const void *get;
	const void *info;
};

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	FILE *file = fopen(getenv("NVTX_LOG"), "ae");
	va_list args;

	if (!file)
		return;
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	fclose(file);
}

/* What the schemas say, by their numbers from FIRST_SCHEMA on. */
static struct schema schemas[MAX_SCHEMAS];

/* Of its fields, since what lies between them may be anything. */
static void say_values(const struct payload *payload)
{
	const struct schema *schema = &schemas[payload->schema % MAX_SCHEMAS];
	size_t i;

	say(" of %zu bytes:", payload->size);
	for (i = 0; i < schema->count; i++) {
		const struct entry *entry = &schema->entries[i];
		uint64_t value = 0;

		memcpy(&value, payload->data + entry->offset,
		       entry->type == UINT64 || entry->type == SIZE ? 8 : 4);
		say(" %s %" PRIu64, entry->name, value);
	}
}

static void say_payloads(const char *what, const char *name,
			 const struct payload *payload, size_t count)
{
	size_t i;

	say("%s %s", what, name);
	for (i = 0; i < count; i++)
		say_values(&payload[i]);
	say("\n");
}

static const void *create_domain(const char *name)
{
	say("domain %s\n", name);
	return strdup(name);
}

/* Its handle is its text. */
static const void *register_string(const void *domain, const char *text)
{
	(void) domain;
	say("string %s\n", text);
	return strdup(text);
}

static int push(const void *domain, const struct event *event)
{
	int has_payloads = event->payload_type == PAYLOAD_EXTENSION;

	(void) domain;
	say_payloads("push", event->message, event->payload,
		     has_payloads ? (size_t) event->count : 0);
	return 0;
}

static int pop(const void *domain)
{
	(void) domain;
	say("pop\n");
	return 0;
}

static int pop_payload(const void *domain, const struct payload *payload, size_t count)
{
	(void) domain;
	say_payloads("pop", "with", payload, count);
	return 0;
}

static void name_thread(uint32_t thread, const char *name)
{
	(void) thread;
	say("thread %s\n", name);
}

static uint64_t register_schema(const void *domain, const struct schema *schema)
{
	size_t i;

	(void) domain;
	schemas[schema->id % MAX_SCHEMAS] = *schema;
	say("schema %" PRIu64 " of %zu bytes\n", schema->id, schema->size);
	for (i = 0; i < schema->count; i++)
		say("  %" PRIu64 " %s at %" PRIu64 "\n", schema->entries[i].type,
		    schema->entries[i].name, schema->entries[i].offset);
	return schema->id;
}

static uint64_t register_enum(const void *domain, const struct enumeration *told)
{
	size_t i;

	(void) domain;
	say("enum %" PRIu64 " of %zu bytes\n", told->id, told->size);
	for (i = 0; i < told->count; i++)
		say("  %" PRIu64 " %s\n", told->entries[i].value, told->entries[i].name);
	return told->id;
}

static void fill(const struct callbacks *callbacks, uint32_t module, unsigned int place,
		 function hook)
{
	unsigned int size = 0;
	function **table;

	if (callbacks->table(module, &table, &size) && place < size)
		*table[place] = hook;
}

EXPORT int InitializeInjectionNvtx2(const void *(*get)(uint32_t id));
EXPORT int InitializeInjectionNvtxExtension(struct module *module);

int InitializeInjectionNvtx2(const void *(*get)(uint32_t id))
{
	const struct callbacks *callbacks = get(CALLBACKS);

	fill(callbacks, CORE, NAME_THREAD, (function) name_thread);
	fill(callbacks, CORE2, PUSH, (function) push);
	fill(callbacks, CORE2, POP, (function) pop);
	fill(callbacks, CORE2, REGISTER_STRING, (function) register_string);
	fill(callbacks, CORE2, CREATE_DOMAIN, (function) create_domain);
	return 1;
}

int InitializeInjectionNvtxExtension(struct module *module)
{
	struct segment *segment = module->segments;

	if (module->id != PAYLOAD_MODULE || module->segment_count == 0)
		return 0;
	segment->slots[SCHEMA_REGISTER] = (intptr_t) register_schema;
	segment->slots[ENUM_REGISTER] = (intptr_t) register_enum;
	segment->slots[POP_PAYLOAD] = (intptr_t) pop_payload;
	return 1;
}
