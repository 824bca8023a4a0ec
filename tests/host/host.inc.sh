# SPDX-License-Identifier: MIT
# What the tests that we do no harm share: a program bare, with us, and recorded.
# shellcheck shell=sh

: "${top_srcdir:?}" "${top_builddir:?}"
# shellcheck source=tests/lib/tap.sh
. "$top_srcdir/tests/lib/tap.sh"

# shellcheck disable=SC2034 # for who sources this
programs=$top_builddir/tests/host/programs
# shellcheck disable=SC2034 # for who sources this
link=$top_builddir/tests/link/programs
ours=$top_builddir/.libs/libccltap.so
ccltap=$top_builddir/ccltap
CCLTAP_LIBDIR=$top_builddir/.libs
export CCLTAP_LIBDIR
# And LTTng is waited for as long as by programs that nobody told to wait longer.
unset CCLTAP_JOB LD_PRELOAD LTTNG_UST_REGISTER_TIMEOUT
for needed in "$ccltap" "$ours"; do
    [ -e "$needed" ] || { echo "Bail out! $needed is not built"; exit 1; }
done
alone "$@"

work=$top_builddir/tests/host/$(basename "$0" .sh).$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

has_daemon=no
if lttng --no-sessiond list >/dev/null 2>&1; then
    has_daemon=yes
fi

preload=$("$ccltap" env | sed -n "s|^export LD_PRELOAD='\([^']*\)'.*|\1|p")

# run COMMAND...: all that it says, and how it ends; a deadlock is an answer too.
run()
{
    {
        timeout -s KILL "${limit:-60}" "$@" 2>&1 </dev/null 3>/dev/null || echo "status $?"
    } | sed '/^qemu: uncaught target signal/d' # an emulator's words
}

# with COMMAND...: the same as `ccltap env` says.
with()
{
    run env LD_PRELOAD="$preload" "$@"
}

# recorded COMMAND...: the same while it is recorded; our own line goes to $work/closing.
recorded()
{
    run "$ccltap" record --overwrite -o "$work/trace" -- "$@" >"$work/said"
    grep '^ccltap: ' "$work/said" >"$work/closing" || true
    grep -v '^ccltap: ' "$work/said" || true
}

# unharmed SENTENCE COMMAND...: bare and with the library it is the same.
unharmed()
{
    unharmed_sentence=$1
    shift
    unharmed_bare=$(run "$@")
    same "$unharmed_sentence" "$unharmed_bare" "$(with "$@")"
}

# harmless SENTENCE COMMAND...: bare, with the library and recorded it is the same, and
# what it called is in the trace.
harmless()
{
    harmless_sentence=$1
    unharmed "$@"
    shift
    if [ $has_daemon = no ]; then
        skip "no LTTng session daemon: scripts/daemon make check" \
            "$harmless_sentence, recorded"
        return
    fi
    same "$harmless_sentence, recorded" "$unharmed_bare" "$(recorded "$@")"
    check "$harmless_sentence, and it is in the trace" seen
}

# seen: the last recording has calls; of a large one only its size is told.
seen()
{
    cat "$work/closing"
    grep -Eq 'nccl [1-9]|: [1-9][0-9]* MiB' "$work/closing"
}

# fails COMMAND...: for check.
fails()
{
    ! "$@"
}
