/* SPDX-License-Identifier: MIT */
/*
 * Which collective libraries the program calls, of which versions, and how its calls get
 * there: bound by the linker, looked up by dlsym(), or seen by NVTX alone.
 */
#include "join/audit/object.h"
#include "join/audit/subject.h"
#include "join/report/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const struct tap_audit_object *object; /* NULL: the calls do not say */
	uint64_t linked, looked_up, profiling;
	uint64_t announced; /* by NVTX, past our wrappers */
	uint64_t process_count;
	int64_t version; /* as NCCL numbers it, -1 unknown */
	enum tap_known known;
	struct tap_audit_processes processes;
	struct tap_audit_processes announcing; /* those of the calls that NVTX saw */
	TAP_VEC(const struct tap_audit_object *) callers;
};

/* What one process calls. */
struct used {
	const struct tap_process *process;
	struct row *row;  /* the first object that it calls */
	bool is_several;  /* it calls others, too */
	int64_t launched; /* the version that a launch of NCCL's names, -1 unknown */
};

struct libraries {
	struct tap_audit_state state;
	struct tap_audit_objects objects;
	struct tap_rows rows;	   /* of struct row, by (object, 0) */
	struct tap_rows processes; /* of struct used, by (process, 0) */
};

static struct row *row_of(struct libraries *libraries, const struct tap_library *library)
{
	const struct tap_audit_object *object =
		library ? tap_audit_object_of(&libraries->objects, library) : NULL;
	const uint64_t number = object ? object->number : 0;
	struct row *row;

	if (library && !object)
		return NULL;
	row = tap_rows_find(&libraries->rows, number, 0);
	if (row)
		return row;
	row = tap_rows_add(&libraries->rows, number, 0, sizeof(*row));
	if (row) {
		row->object = object;
		row->version = -1;
	}
	return row;
}

static struct used *used_by(struct libraries *libraries,
			    const struct tap_process *process)
{
	struct used *used = tap_rows_find(&libraries->processes, process->number, 0);

	if (used)
		return used;
	used = tap_rows_add(&libraries->processes, process->number, 0, sizeof(*used));
	if (used) {
		used->process = process;
		used->launched = -1;
	}
	return used;
}

static int add_caller(struct libraries *libraries, struct row *row,
		      const struct tap_library *library)
{
	const struct tap_audit_object *object;
	size_t i;

	if (!library)
		return 0;
	object = tap_audit_object_of(&libraries->objects, library);
	if (!object)
		return -ENOMEM;
	for (i = 0; i < row->callers.count; i++)
		if (row->callers.items[i] == object)
			return 0;
	return tap_vec_add(&row->callers, object);
}

/* The answer of ncclGetVersion() is that of the library that was called. */
static void take_version(struct row *row, const struct tap_span *span)
{
	int64_t version;

	if (strcmp(span->name->name, "ncclGetVersion") ||
	    tap_span_is_failure(tap_span_result(span)) ||
	    tap_fields_get_signed(&span->exit, "version", &version) || version <= 0)
		return;
	row->version = version;
	row->known = TAP_KNOWN_EXACT;
}

static void count_binding(struct row *row, const struct tap_span *span)
{
	if (span->is_from_nvtx)
		row->announced++;
	else if (tap_fields_number(&span->entry, "looked_up"))
		row->looked_up++;
	else
		row->linked++;
	row->profiling += tap_fields_number(&span->entry, "pnccl") != 0;
}

static int take_call(struct libraries *libraries, const struct tap_span *span)
{
	const struct tap_library *library =
		tap_process_library(span->process,
				    tap_fields_number(&span->entry, "library"));
	struct row *row = row_of(libraries, library);
	struct used *used = used_by(libraries, span->process);

	if (!row || !used)
		return -ENOMEM;
	count_binding(row, span);
	take_version(row, span);
	if (!used->row)
		used->row = row;
	used->is_several |= used->row != row;
	if (tap_audit_add_process(&row->processes, span->process) ||
	    (span->is_from_nvtx &&
	     tap_audit_add_process(&row->announcing, span->process)))
		return -ENOMEM;
	return add_caller(libraries, row, span->caller);
}

static int take_launch(struct libraries *libraries, const struct tap_span *span)
{
	uint64_t version = tap_fields_number(&span->entry, "nccl_version");
	struct used *used;

	if (!version)
		version = tap_fields_number(&span->exit, "nccl_version");
	if (!version || version > INT32_MAX)
		return 0;
	used = used_by(libraries, span->process);
	if (used)
		used->launched = (int64_t) version;
	return used ? 0 : -ENOMEM;
}

static int take_span(void *data, struct tap_span *span)
{
	/* Its entry, which names the library, is lost. */
	if (span->state == TAP_SPAN_BEGIN_LOST)
		return 0;
	if (tap_audit_is_own_call(span))
		return take_call(data, span);
	return span->name->cuda != TAP_CUDA_NONE ? take_launch(data, span) : 0;
}

/* ---- Versions ---- */

/* NCCL's number of "2.28.9", 22809; -1: the text is no version. */
static int64_t number_of(const char *text)
{
	unsigned long part[3];
	char *end;
	int i;

	for (i = 0; i < 3; i++) {
		if (*text < '0' || *text > '9')
			return -1;
		part[i] = strtoul(text, &end, 10);
		if (part[i] > 99 || *end != (i < 2 ? '.' : '\0'))
			return -1;
		text = end + 1;
	}
	return (int64_t) (part[0] * 10000 + part[1] * 100 + part[2]);
}

/* What the file's name says: "libnccl.so.2.28.9". */
static void infer_version(struct row *row)
{
	const char *suffix =
		row->object ? strstr(row->object->library->base_name, ".so.") : NULL;

	if (row->version >= 0 || !suffix)
		return;
	row->version = number_of(suffix + strlen(".so."));
	row->known = TAP_KNOWN_INFERRED;
}

/* NCCL 2.9 and later has five digits or more. */
static void add_version(struct tap_buffer *text, int64_t version)
{
	const uint64_t number = (uint64_t) version, unit = number < 10000 ? 1000 : 10000;

	tap_buffer_add_unsigned(text, number / unit);
	tap_buffer_add_char(text, '.');
	tap_buffer_add_unsigned(text, number % unit / 100);
	tap_buffer_add_char(text, '.');
	tap_buffer_add_unsigned(text, number % 100);
}

static void settle_versions(struct libraries *libraries)
{
	size_t i;

	/* A launch names no library, so the process must have only one. */
	for (i = 0; i < libraries->processes.count; i++) {
		const struct used *used = libraries->processes.all[i];

		if (used->launched < 0 || !used->row || used->is_several ||
		    used->row->version >= 0)
			continue;
		used->row->version = used->launched;
		used->row->known = TAP_KNOWN_EXACT;
	}
	for (i = 0; i < libraries->rows.count; i++)
		infer_version(libraries->rows.all[i]);
}

/* ---- Columns ---- */

static void add_library(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_buffer_add_string(text, "");
	if (row->object && *row->object->library->path)
		tap_buffer_add_visible(text, row->object->library->path);
}

static void add_file(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_buffer_add_string(text, "  ");
	tap_buffer_add_visible(text, row->object && *row->object->library->base_name
					     ? row->object->library->base_name
					     : "unknown library");
}

static void add_build_id(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	if (row->object)
		tap_buffer_add_visible(text, row->object->library->build_id);
}

static void add_release(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	if (row->version >= 0)
		add_version(text, row->version);
}

static void add_release_or_not(struct tap_buffer *text, const void *data)
{
	const size_t start = text->used;

	add_release(text, data);
	if (text->used == start)
		tap_buffer_add_string(text, "unknown");
}

static void add_known(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_buffer_add_string(text,
			      row->version >= 0 ? tap_known_name(row->known) : "unknown");
}

static void add_callers(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;
	size_t i;

	for (i = 0; i < row->callers.count; i++) {
		tap_buffer_add_string(text, i ? ", " : "");
		tap_buffer_add_visible(text, row->callers.items[i]->library->base_name);
	}
}

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "  library", 26, add_file),
	TAP_COLUMN_TEXT("path", NULL, 0, add_library),
	TAP_COLUMN_TEXT("build_id", NULL, 0, add_build_id),
	TAP_COLUMN_TEXT(NULL, "version", 9, add_release_or_not),
	TAP_COLUMN_TEXT("version", NULL, 0, add_release),
	TAP_COLUMN_TEXT("version_known", "known", 8, add_known),
	TAP_COLUMN("processes", "processes", 10, TAP_UNIT_COUNT, struct row,
		   process_count),
	TAP_COLUMN("linked", "linked", 9, TAP_UNIT_COUNT, struct row, linked),
	TAP_COLUMN("looked_up", "looked up", 10, TAP_UNIT_COUNT, struct row, looked_up),
	TAP_COLUMN("nvtx_only", "NVTX only", 10, TAP_UNIT_COUNT, struct row, announced),
	TAP_COLUMN("profiling_names", NULL, 0, TAP_UNIT_COUNT, struct row, profiling),
	TAP_COLUMN_TEXT("callers", "callers", 0, add_callers),
	TAP_COLUMNS_END,
};

/* ---- Remarks ---- */

static const char *base_name(const struct row *row)
{
	return row->object && *row->object->library->base_name
		       ? row->object->library->base_name
		       : "a library that the trace does not name";
}

static int remark_announced(struct libraries *libraries, const struct row *row)
{
	struct tap_audit_remark *remark;

	if (!row->announced)
		return 0;
	remark =
		tap_audit_add(libraries, TAP_AUDIT_UNKNOWN, "nvtx-only", TAP_KNOWN_EXACT);
	if (!remark)
		return -ENOMEM;
	remark->count = row->announced;
	tap_audit_add_count(&remark->text, row->announced, "call");
	tap_buffer_add_string(&remark->text, " of ");
	tap_buffer_add_visible(&remark->text, base_name(row));
	tap_buffer_add_string(
		&remark->text,
		" came past the tracer, as where NCCL is linked statically; "
		"NVTX tells no result, call site or order of them");
	return tap_audit_remark_on(remark, &row->announcing);
}

static int remark_copies(struct libraries *libraries)
{
	struct tap_audit_processes processes = {0};
	struct tap_audit_remark *remark;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < libraries->processes.count; i++) {
		const struct used *used = libraries->processes.all[i];

		if (used->is_several)
			ret = tap_audit_add_process(&processes, used->process);
	}
	if (!ret && processes.all.count) {
		remark = tap_audit_add(libraries, TAP_AUDIT_NOTE, "copies",
				       TAP_KNOWN_EXACT);
		ret = remark ? tap_audit_remark_on(remark, &processes) : -ENOMEM;
		if (!ret) {
			remark->count = processes.all.count;
			tap_buffer_add_string(&remark->text,
					      "several copies of NCCL in one process: ");
			tap_audit_add_processes(&remark->text, &processes);
		}
	}
	tap_audit_free_processes(&processes);
	return ret;
}

/* Of ranks that talk to one another NCCL wants one release. */
static int remark_versions(struct libraries *libraries)
{
	const struct row *first = NULL, *other = NULL;
	struct tap_audit_remark *remark;
	size_t i;

	for (i = 0; !other && i < libraries->rows.count; i++) {
		const struct row *row = libraries->rows.all[i];

		if (row->version < 0)
			continue;
		if (!first)
			first = row;
		else if (row->version != first->version)
			other = row;
	}
	if (!other)
		return 0;
	remark = tap_audit_add(libraries, TAP_AUDIT_WARNING, "versions",
			       first->known > other->known ? first->known : other->known);
	if (!remark)
		return -ENOMEM;
	tap_buffer_add_string(&remark->text, "different versions are called: ");
	add_version(&remark->text, first->version);
	tap_buffer_add_string(&remark->text, " by ");
	tap_audit_add_processes(&remark->text, &first->processes);
	tap_buffer_add_string(&remark->text, ", ");
	add_version(&remark->text, other->version);
	tap_buffer_add_string(&remark->text, " by ");
	tap_audit_add_processes(&remark->text, &other->processes);
	return tap_audit_remark_on(remark, &other->processes);
}

static int remark_none(struct libraries *libraries)
{
	struct tap_audit_remark *remark;

	if (libraries->rows.count)
		return 0;
	remark = tap_audit_add(libraries, TAP_AUDIT_UNKNOWN, "no-calls", TAP_KNOWN_EXACT);
	if (!remark)
		return -ENOMEM;
	remark->count = 0;
	tap_buffer_add_string(&remark->text, "no call of NCCL or RCCL is in the trace");
	return 0;
}

static int conclude(void *data)
{
	struct libraries *libraries = data;
	size_t i;
	int ret = 0;

	settle_versions(libraries);
	for (i = 0; !ret && i < libraries->rows.count; i++) {
		struct row *row = libraries->rows.all[i];

		row->process_count = row->processes.all.count;
		ret = remark_announced(libraries, row);
	}
	if (!ret)
		ret = remark_copies(libraries);
	if (!ret)
		ret = remark_versions(libraries);
	return ret ? ret : remark_none(libraries);
}

/* ---- Output ---- */

static void add_bindings(struct tap_buffer *line, const struct row *row)
{
	const struct {
		uint64_t count;
		const char *what;
	} ways[] = {{row->linked, " linked"},
		    {row->looked_up, " looked up"},
		    {row->announced, " seen by NVTX alone"}};
	bool has_before = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!ways[i].count)
			continue;
		tap_buffer_add_string(line, has_before ? ", " : "");
		tap_buffer_add_unsigned(line, ways[i].count);
		tap_buffer_add_string(line, ways[i].what);
		has_before = true;
	}
}

static void summary(const void *data, struct tap_buffer *line)
{
	const struct libraries *libraries = data;
	const struct row *row;

	if (!libraries->rows.count)
		return;
	row = libraries->rows.all[0];
	if (row->version < 0)
		tap_buffer_add_string(line, "unknown version");
	else
		add_version(line, row->version);
	if (row->version >= 0 && row->known != TAP_KNOWN_EXACT)
		tap_buffer_add_string(line, " (inferred)");
	tap_buffer_add_string(line, " in ");
	tap_buffer_add_visible(line, base_name(row));
	tap_buffer_add_string(line, "; calls: ");
	add_bindings(line, row);
	if (libraries->rows.count > 1) {
		tap_buffer_add_string(line, "; and ");
		tap_audit_add_count(line, libraries->rows.count - 1, "other file");
	}
}

static void free_all(void *data)
{
	struct libraries *libraries = data;
	size_t i;

	for (i = 0; i < libraries->rows.count; i++) {
		struct row *row = libraries->rows.all[i];

		tap_audit_free_processes(&row->processes);
		tap_audit_free_processes(&row->announcing);
		tap_vec_free(&row->callers);
	}
	tap_rows_free(&libraries->rows);
	tap_rows_free(&libraries->processes);
	tap_audit_objects_free(&libraries->objects);
}

const struct tap_audit_subject tap_audit_libraries = {
	.key = "libraries",
	.title = "libraries",
	.size = sizeof(struct libraries),
	.table = {.columns = columns,
		  .rows = offsetof(struct libraries, rows),
		  .key = "libraries"},
	.takes = {.span_ended = take_span},
	.conclude = conclude,
	.summary = summary,
	.free = free_all,
};
