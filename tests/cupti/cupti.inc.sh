# SPDX-License-Identifier: MIT
# What the tests of the GPU layer share: programs on the driver double and a CUPTI double,
# recorded, and the driver's log beside what was recorded.
# shellcheck shell=sh disable=SC2034 # variables that the tests use

# shellcheck source=tests/cuda/cuda.inc.sh
. "${top_srcdir:?}/tests/cuda/cuda.inc.sh"

guests=$top_builddir/tests/cupti/programs
DOUBLE_CUPTI_LOG=$work/cupti-log
export DOUBLE_CUPTI_LOG
releases='11.8 12 13'

# with RELEASE: from here on the linker finds the CUPTI of that release, and no other, whatever
# is installed here: a file with nothing in it ends its search.  None with "".
with()
{
    LD_LIBRARY_PATH=$work/cupti-$1
    export LD_LIBRARY_PATH
    rm -rf "$LD_LIBRARY_PATH"
    mkdir -p "$LD_LIBRARY_PATH"
    for with_release in 13 12 11.8 11.7 11.6 11.5 11.4 11.3 11.2 11.1 11.0; do
        : >"$LD_LIBRARY_PATH/libcupti.so.$with_release"
    done
    [ -z "$1" ] || ln -sf "$(cd "$top_builddir/tests/doubles/cupti" && pwd)/libcupti.so.$1" \
        "$LD_LIBRARY_PATH"
}

# traced OPTION... -- COMMAND...: recorded to $work/trace, its output to $work/out, and
# $traced_status.  The driver's log and the events are there afterwards.
traced()
{
    rm -rf "$DOUBLE_CUDA_LOG" "$DOUBLE_CUPTI_LOG" "$work/trace"
    traced_status=0
    "$ccltap" record -o "$work/trace" "$@" >"$work/out" 2>"$work/err" </dev/null ||
        traced_status=$?
    babeltrace2 --clock-cycles "$work/trace" >"$work/events" 2>"$work/babeltrace" || :
}

# ran ASKED...: what was recorded last is what the driver's device did (trace.py).
ran()
{
    /usr/bin/python3 "$top_srcdir/tests/cupti/expect/trace.py" "$DOUBLE_CUDA_LOG" "$work/rows" \
        "$@" <"$work/events"
}

# joined: of what was recorded last the reader knows the call that each piece of work was put
# there by, and the collective of each of NCCL's kernels.
joined()
{
    "$ccltap" check --json "$work/trace" >"$work/check" || return 1
    /usr/bin/python3 - "$DOUBLE_CUDA_LOG" "$work/check" <<'END'
import json, re, sys
ran = [line for line in open(sys.argv[1], encoding="ascii")
       if re.match("end .*kind=(kernel|memcpy|memset) ", line)]
with open(sys.argv[2], encoding="utf-8") as file:
    found = json.load(file)
links = {link["kind"]: link for link in found["links"]}
launches, collectives = links["launch-kernel"], links["kernel-collective"]
assert found["verdict"] == "ok", found["verdict"]
assert launches["exact"] == len(ran) and not launches["unmatched"], launches
assert collectives["exact"] + collectives["decoded"] == sum(
    "ncclDevKernel_" in line for line in ran) and not collectives["unmatched"], collectives
END
}

# alike SENTENCE COMMAND...: it prints and returns the same without us, and when traced
# with $options.
options=
alike()
{
    alike_sentence=$1
    shift
    alike_bare=$("$@" 2>&1 </dev/null || echo "status $?")
    # shellcheck disable=SC2086 # a list of words
    traced $options -- "$@"
    alike_with=$(cat "$work/out"; [ $traced_status = 0 ] || echo "status $traced_status")
    same "$alike_sentence: it does the same" "$alike_bare" "$alike_with"
}

# owners: who had CUPTI, in order, as the trace has it.
owners()
{
    sed -n 's/.* gpu:owner: .* state = "\([^"]*\)", holder = "\([^"]*\)".*/\1 \2/p' \
        "$work/events" | sed 's/ $//' | tr '\n' ',' | sed 's/,$//'
}
