# SPDX-License-Identifier: MIT
# What the tests of `ccltap record` share: where it is, and a directory of one's own.
# shellcheck shell=sh

: "${top_srcdir:?}" "${top_builddir:?}"
# shellcheck source=tests/lib/tap.sh
. "$top_srcdir/tests/lib/tap.sh"

if ! command -v "${LTTNG_SESSIOND_PATH:-lttng-sessiond}" >/dev/null; then
    echo "1..0 # SKIP lttng-sessiond is not installed"
    exit 0
fi

ccltap=$top_builddir/ccltap
CCLTAP_LIBDIR=$top_builddir/.libs
export CCLTAP_LIBDIR
unset CCLTAP_JOB SLURM_JOB_ID PBS_JOBID LSB_JOBID LD_PRELOAD
for needed in "$ccltap" "$CCLTAP_LIBDIR/libccltap.so"; do
    [ -e "$needed" ] || { echo "Bail out! $needed is not built"; exit 1; }
done

alone "$@"
# shellcheck disable=SC2034 # for who sources this
programs=$top_builddir/tests/live/programs
host=$(uname -n)
work=$top_builddir/tests/live/$(basename "$0" .sh).$$
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# run STATUS-EXPECTED SENTENCE COMMAND...: stdout to $work/out, stderr to $work/err; shows the
# end of both when the status is another.
run()
{
    run_expected=$1
    run_sentence=$2
    shift 2
    run_status=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || run_status=$?
    same "$run_sentence" "$run_expected" "$run_status"
    [ "$run_status" = "$run_expected" ] ||
        tail -n 20 "$work/out" "$work/err" | sed 's/^/# /'
}

# said SENTENCE PATTERN: stderr has one line of ours, and it holds the pattern. Some
# shells add one about a program that was killed.
said()
{
    if [ "$(grep -c "^ccltap: " "$work/err")" -eq 1 ] &&
        grep -q "^ccltap: .*$2" "$work/err"; then
        ok 0 "$1"
    else
        ok 1 "$1"
        sed 's/^/# /' "$work/err"
    fi
}

# within SECONDS COMMAND...: it succeeds in that time.
within()
{
    tries=$(($1 * 10))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.1
    done
}

# session DIR: the name of the session that DIR/<host> was recorded with.
session()
{
    sed -n 's/^session //p' "$1/$host/ccltap-recording"
}

# heard: returns once every process that is traced has done what LTTng asked of it, and has
# written its state.  LTTng answers before that, but a process does one after the other, and of
# each one is asked here what events it has.
heard()
{
    quietly list --userspace
}

# without SYMBOL: from here on the library lacks it, and so a way in.
without()
{
    mkdir -p "$work/libdir"
    ln -sf "$(cd "$top_builddir/.libs" && pwd)"/* "$work/libdir"
    rm -f "$work/libdir/libccltap.so"
    "$top_srcdir/tests/lib/without.py" "$top_builddir/.libs/libccltap.so" "$1" \
        "$work/libdir/libccltap.so"
    CCLTAP_LIBDIR=$work/libdir
}

# quietly COMMAND...: of lttng's, for the daemon that is there.
quietly()
{
    lttng --no-sessiond "$@" >/dev/null
}

# start_session NAME FOLDER LAYER SIZE COUNT: records a layer by lttng alone, as the manual
# says, with so many buffers of that size on each processor.
start_session()
{
    quietly create "$1" --output "$2"
    for start_channel in setup hot; do
        quietly enable-channel -u -s "$1" --buffers-uid --subbuf-size "$4" \
            --num-subbuf "$5" $start_channel
        quietly add-context -u -s "$1" -c $start_channel -t vpid -t vtid
    done
    quietly enable-event -u -s "$1" -c setup "tap:*,$3:*" --loglevel-only INFO
    quietly enable-event -u -s "$1" -c hot "$3:*" --loglevel-only DEBUG
    quietly start "$1"
}
