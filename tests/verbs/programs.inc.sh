# SPDX-License-Identifier: MIT
# What the tests of the small programs share: run one, recorded or not, and compare its
# trace with what it wrote down itself.
# shellcheck shell=sh

# shellcheck source=tests/verbs/verbs.inc.sh
. "${top_srcdir:?}/tests/verbs/verbs.inc.sh"

programs=${top_builddir:?}/tests/verbs/programs
PROGRAM_LOGS=$work/logs
export PROGRAM_LOGS

# fresh: no logs are there.
fresh()
{
    rm -rf "$PROGRAM_LOGS"
    mkdir "$PROGRAM_LOGS"
}

# views TRACE: what ccltap says of it.
views()
{
    env -u LD_LIBRARY_PATH "$ccltap" timeline --format jsonl --overwrite \
        -o "$work/jsonl" "$1" &&
        { env -u LD_LIBRARY_PATH "$ccltap" check --json "$1" >"$work/check" || true; }
}

# agrees SENTENCE OPTION...: the trace that was viewed says what the logs say.
agrees()
{
    agrees_sentence=$1
    shift
    agrees_status=0
    /usr/bin/python3 "$top_srcdir/tests/verbs/expect/log.py" "$PROGRAM_LOGS" \
        "$work/jsonl" "$work/check" "$@" >"$work/agrees" 2>&1 || agrees_status=$?
    ok $agrees_status "$agrees_sentence"
    sed 's/^/# /' "$work/agrees"
}

# reported SENTENCE TRACE: so does its report.
reported()
{
    env -u LD_LIBRARY_PATH "$ccltap" report --json "$2" >"$work/report"
    check "$1" /usr/bin/python3 "$top_srcdir/tests/verbs/expect/report.py" \
        "$PROGRAM_LOGS" "$work/report" "$work/jsonl"
}

# recorded NAME PROGRAM ARGUMENT...: to $work/NAME, and viewed.
recorded()
{
    recorded_name=$1
    shift
    fresh
    program=$1
    shift
    run 0 "$recorded_name is recorded" "$ccltap" record -o "$work/$recorded_name" -- \
        "$programs/$program" "$@"
    check "$recorded_name: it can be viewed" views "$work/$recorded_name"
}
