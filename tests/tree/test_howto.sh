#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/HOWTO.md is right: what it says is added to a copy of the sources, and works.  A call
# of NCCL and one of the CUDA driver, with arguments named as no other call's, are in every
# view where their kind belongs; so are a hook, an event, a layer, a column and a finding.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=${top_builddir:?}/tests/tree/howto.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/.libs" "$work/tests/golden/.libs" "$work/objects"
cp -R "$top_srcdir/src" "$work/src"
chmod -R u+w "$work/src"

# ---- The rows ----

cat >>"$work/src/calls/nccl.def" <<'END'
CALL("2.32", HOT, COLLECTIVE, RESULT, ncclResult_t, ncclMadeUp,
	void *,		in,	PTR,
	size_t,		n,	COUNT,
	ncclDataType_t,	type,	DATATYPE,
	ncclComm_t,	comm,	COMM,
	cudaStream_t,	stream,	STREAM)
END
cat >>"$work/src/calls/cuda.def" <<'END'
CALL(13000, WORK, COPY, (cuMadeUp, 2001, 2002), cuMadeUp,
	cuMadeUp_ptsz,
	CUdeviceptr,		to,		DPTR,
	size_t,			nbytes,		BYTES,
	CUstream,		s,		STREAM)
END
same "two rows in two files are all that is added" "calls/cuda.def calls/nccl.def" "$(
    LC_ALL=C diff -rq "$top_srcdir/src" "$work/src" | sed -n 's|^Files .*/src/\([^ ]*\) and .*|\1|p' |
        sort | tr '\n' ' ' | sed 's/ $//')"

# ---- A hook, an event, a layer and a column ----

# Those of the tree that are changed or new, but for the rows.
touched()
{
    LC_ALL=C diff -rq "$top_srcdir/src" "$work/src" |
        sed -n "s|^Files .*/src/\\([^ ]*\\) and .*|\\1|p; s|^Only in $work/src/\\(.*\\): |\\1/|p" |
        grep -v '\.def$' | sort | tr '\n' ' ' | sed 's/ $//'
}

# Puts lines before the first one with these words, in a file of the copy.
before() # FILE WORDS <LINES
{
    cat >"$work/lines"
    LC_ALL=C awk -v lines="$work/lines" -v words="$2" '
        !done && index($0, words) {
            while ((getline line <lines) > 0)
                print line
            done = 1
        }
        { print }
        END { exit !done }' "$work/src/$1" >"$work/file" && cp "$work/file" "$work/src/$1"
}

before intercept/nccl/hooks.h '#define TAP_PASS_ABORT' <<'END'
#define TAP_PASS_MADE_UP TAP_PASS_SLOWLY
#define TAP_COUNTED_MADE_UP OTHER
#define TAP_LOCALS_MADE_UP
#define TAP_BEFORE_MADE_UP(name) tap_change_begin(name)
#define TAP_DESCRIBE_MADE_UP TAP_DESCRIBE_ON_COMM
#define TAP_AFTER_MADE_UP tap_change_end();
#define TAP_FINISH_MADE_UP

END
before calls/kinds.h '#define HOOK_ENTRY_ABORT' <<'END'
#define HOOK_ENTRY_MADE_UP lttng_ust_field_integer(uint64_t, made_up, call->op_number)
#define HOOK_EXIT_MADE_UP
#define HOOK_KIND_MADE_UP COLLECTIVE

END
cat >>"$work/src/calls/nccl.def" <<'END'
CALL("2.32", SETUP, MADE_UP, RESULT, ncclResult_t, ncclMadeUpToo,
	ncclComm_t,	comm,	COMM)
END
same "a hook is in two files" "calls/kinds.h intercept/nccl/hooks.h" "$(touched)"
before tracepoints/tap_tp.h 'LTTNG_UST_TRACEPOINT_EVENT(tap, process_end' <<'END'
LTTNG_UST_TRACEPOINT_EVENT(tap, made_up,
	LTTNG_UST_TP_ARGS(uint64_t, value_),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, value, value_)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, made_up, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

END
before tracepoints/events.h 'X(process_end,' <<'END'
	X(made_up, (uint64_t value), (value)) \
END
before intercept/process.c 'write_process(tap_events_table->process);' <<'END'
	tap_events_table->made_up(42);
END
before join/model/event.h TAP_EVENT_KINDS, <<'END'
	TAP_EVENT_MADE_UP,
END
before join/bt/decode.c '{"process_end",' <<'END'
		{"made_up", TAP_EVENT_MADE_UP},
END
same "an event is in three, and in two for the reader" "calls/kinds.h intercept/nccl/hooks.h \
intercept/process.c join/bt/decode.c join/model/event.h tracepoints/events.h \
tracepoints/tap_tp.h" "$(touched)"

cat >"$work/src/join/ranks/made_up.h" <<'END'
#include "join/model/layer.h"
extern const struct tap_layer tap_made_up_layer;
END
cat >"$work/src/join/ranks/made_up.c" <<'END'
#include "join/ranks/made_up.h"
struct made_up {
	struct tap_layer_state state;
	uint64_t count;
};
static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	(void) process, (void) event;
	((struct made_up *) state)->count++;
	return 0;
}
/* Where a view shows it. */
static int finish(void *state)
{
	struct made_up *made_up = state;

	made_up->state.context->loss.malformed_events = made_up->count;
	return 0;
}
const struct tap_layer tap_made_up_layer = {
	.name = "made-up",
	.size = sizeof(struct made_up),
	.events = TAP_TAKES(TAP_EVENT_MADE_UP),
	.take = take,
	.finish = finish,
};
END
before join/join.c '#include "join/ranks/operations.h"' <<'END'
#include "join/ranks/made_up.h"
END
before join/join.c '&tap_verbs_layer,' <<'END'
	&tap_made_up_layer,
END
check "its folder may have such a layer" "$top_srcdir/scripts/check-layers" "$work"

before join/report/report_cuda.c 'captured; /* of all these' <<'END'
	uint64_t largest;
END
before join/report/report_cuda.c 'if (bytes > 0)' <<'END'
		if (bytes > (int64_t) sum->largest)
			sum->largest = (uint64_t) bytes;
END
before join/report/report_cuda.c 'STREAM("memsets"' <<'END'
	TAP_COLUMN("largest_bytes", "largest", 12, TAP_UNIT_BYTES, struct tap_stream_sum, largest),
END
same "a layer and a column are in one file each, and in the table of layers" \
    "calls/kinds.h intercept/nccl/hooks.h intercept/process.c join/bt/decode.c join/join.c \
join/model/event.h join/ranks/made_up.c join/ranks/made_up.h join/report/report_cuda.c \
tracepoints/events.h tracepoints/tap_tp.h" "$(touched)"

cat >"$work/src/join/findings/made_up.c" <<'END'
#include "join/findings/analysis.h"
#include "join/findings/collective.h"
struct made_up {
	struct tap_analysis_state state;
	uint64_t count;
};
static int note_collective(void *state, const struct tap_collective *collective)
{
	((struct made_up *) state)->count += collective->count;
	return 0;
}
static int conclude(void *state, const struct tap_loss *loss)
{
	struct made_up *made_up = state;
	struct tap_finding *finding = tap_findings_add(
		made_up->state.findings, TAP_FINDING_SLOW, TAP_SEVERITY_WARNING);

	(void) loss;
	if (!finding)
		return -1;
	tap_buffer_add_string(&finding->headline, "made up of calls: ");
	tap_buffer_add_unsigned(&finding->headline, made_up->count);
	return 0;
}
const struct tap_analysis tap_made_up_analysis = {
	.name = "made-up",
	.size = sizeof(struct made_up),
	.collective = note_collective,
	.conclude = conclude,
};
END
before join/findings/analysis.h 'extern const struct tap_analysis tap_missing_analysis;' <<'END'
extern const struct tap_analysis tap_made_up_analysis;
END
before join/findings/findings.c '&tap_clear_analysis,' <<'END'
	&tap_made_up_analysis,
END
check "an analysis may include what it needs" "$top_srcdir/scripts/check-layers" "$work"

# ---- What is made of them ----

compile() # OPTION...
{
    # shellcheck disable=SC2086 # CC may carry options
    ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -include "$top_builddir/config.h" -I"$work/src" \
        -I"$top_srcdir/tests" "$@"
}

compile -o "$work/list-calls" "$work/src/calls/list-calls.c"
lists() # OPTION LINE
{
    "$work/list-calls" "$1" | grep -qxF "$2"
}
check "the library exports the one" lists --exports ncclMadeUp
check "and the other" lists --cuda 'cuMadeUp_ptsz cuMadeUp WORK'
check "CUPTI's number of it is in the list" lists --cbids 'cuMadeUp_ptsz 2002'
# shellcheck disable=SC2016 # Markdown's quotes
check "so is its line in doc/calls.md" lists --markdown \
    '| `cuMadeUp` | `cuMadeUp_ptsz` | 13.0 | WORK | COPY | 1 | `to` DPTR, `nbytes` BYTES, `s` STREAM |'
for file in src/intercept/nccl/nccl.c src/intercept/cuda/cuda.c src/cupti/callback.c \
    src/tracepoints/cuda_hot_tp.c src/tracepoints/nccl_tp.c src/tracepoints/tap_tp.c \
    src/tracepoints/events.c src/intercept/process.c; do
    check "$file takes them" compile -fsyntax-only "$work/$file"
done
for file in programs/every_call.c programs/every_cuda.c doubles/nccl.c doubles/cuda.c \
    programs/wild.c; do
    check "tests/calls/$file takes them" compile -fsyntax-only \
        -I"$top_srcdir/tests/calls" "$top_srcdir/tests/calls/$file"
done

# ---- The reader ----

# All of it, without what a sanitizer wants of programs.
cat >"$work/compile" <<END
#!/bin/sh
exec ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -w -O0 -fPIC -include "$top_builddir/config.h" \
    -I"$work/src" -I"$top_srcdir/tests" $(pkg-config --cflags babeltrace2) -c "\$1" \
    -o "$work/objects/\$(echo "\$1" | md5sum | cut -c-32).o"
END
chmod +x "$work/compile"
find "$work/src/join" -name '*.c' -print0 | xargs -0 -P 2 -n 1 "$work/compile"
# shellcheck disable=SC2046,SC2086 # lists of options
${CC:-cc} -shared -o "$work/.libs/babeltrace-plugin-ccltap.so" "$work"/objects/*.o \
    $(pkg-config --libs babeltrace2) \
    $(sed -nE 's/^(LIBDW|JSON_C|ZLIB)_LIBS = //p' "$top_builddir/Makefile") -ldl
# shellcheck disable=SC2046 # lists of options
compile -w $(pkg-config --cflags babeltrace2) -o "$work/convert" \
    "$top_srcdir/tests/golden/convert.c" "$top_srcdir/tests/golden/graph.c" \
    $(pkg-config --libs babeltrace2)
ln -s "$top_builddir/tests/golden/.libs/babeltrace-plugin-ccltaptest.so" \
    "$work/tests/golden/.libs/"

cat >"$work/made-up.events" <<'END'
trace host=alpha
1000 setup 10 10 tap:process pid=+10 host="alpha" rank=+0 world_size=+2 command="app"
1001 setup 20 20 tap:process pid=+20 host="alpha" rank=+1 world_size=+2 command="app"
1100 setup 10 10 tap:made_up value=42
1101 setup 20 20 tap:made_up value=42
1200 setup 10 10 tap:comm comm_id=1 comm=0x10 comm_key=0xa1 life=1:ready nranks=+2 rank=+0 collectives=0
1220 setup 20 20 tap:comm comm_id=1 comm=0x30 comm_key=0xa1 life=1:ready nranks=+2 rank=+1 collectives=0
2000 hot 10 10 nccl:ncclMadeUp_entry call_id=2 parent_id=0 n=1024 type=7:ncclFloat32 comm=0x10 comm_id=1 comm_key=0xa1 stream=0x50 op_number=1 group_id=0 group_depth=0 capture=0:none
2050 hot 10 10 cuda:cuMadeUp begin_ns=2010 call_id=3 parent_id=2 context=0xc0 result=+0 per_thread=0 runtime=0 capture=+0 to=0xd0 nbytes=4096 s=0x50
2100 hot 10 10 nccl:ncclMadeUp_exit call_id=2 result=0:ncclSuccess
2110 hot 10 10 cuda:cuMadeUp begin_ns=2105 call_id=4 parent_id=0 context=0xc0 result=+0 per_thread=0 runtime=0 capture=+0 to=0xd0 nbytes=1000 s=0x50
2150 hot 20 20 nccl:ncclMadeUp_entry call_id=2 parent_id=0 n=1024 type=7:ncclFloat32 comm=0x30 comm_id=1 comm_key=0xa1 stream=0x50 op_number=1 group_id=0 group_depth=0 capture=0:none
2200 hot 20 20 nccl:ncclMadeUp_exit call_id=2 result=0:ncclSuccess
END
top_builddir="$work" "$work/convert" events "$work/made-up.events" report \
    full=yes output="$work/report"

section() # TITLE: the lines below it, words apart by one blank
{
    sed -n "/^$1/,/^\$/p" "$work/report" | sed '1d; s/  */ /g; s/^ //'
}
same "the stream is in \"CUDA streams\", with its copies and their bytes, and the column" \
    "rank 0 stream 0x50 0 0 2 5096 4096" "$(section 'CUDA streams' | cut -d ' ' -f -9)"
same "the copy is one that the call of NCCL launches" "rank 0 ncclMadeUp 0 0 1" \
    "$(section 'launches inside calls' | cut -d ' ' -f -6)"
same "the collective is in its communicator's table, with its bytes, and linked" \
    "ncclMadeUp 2 0 8192 1 0" \
    "$(section 'communicator 0xa1' | sed -n 's/^\(ncclMadeUp [0-9]* [0-9]* [0-9]*\) .* ns .* ns .* ns /\1 /p')"
top_builddir="$work" "$work/convert" events "$work/made-up.events" why output="$work/why"
same "the finding is the first, of the calls of both ranks" "FINDING  made up of calls: 2" \
    "$(head -n 1 "$work/why")"
same "the layer has taken the events" "loss: malformed events 2" \
    "$(grep malformed "$work/report")"
tap_done
