# SPDX-License-Identifier: MIT
# TAP for shell tests: source it, set what the test needs, end with tap_done.
# shellcheck shell=sh

tap_number=0
tap_failed=0

# ok STATUS SENTENCE: the next test passed when STATUS is 0.
ok()
{
    tap_number=$((tap_number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_number - $2"
    else
        echo "not ok $tap_number - $2"
        tap_failed=$((tap_failed + 1))
    fi
}

# check SENTENCE COMMAND...: passes when the command does; its output is shown if not.
check()
{
    tap_sentence=$1
    shift
    if tap_output=$("$@" 2>&1); then
        ok 0 "$tap_sentence"
    else
        ok 1 "$tap_sentence"
        printf '%s\n' "$tap_output" | sed 's/^/# /'
    fi
}

# same SENTENCE EXPECTED ACTUAL: passes when both are equal, else shows both.
same()
{
    if [ "$2" = "$3" ]; then
        ok 0 "$1"
    else
        ok 1 "$1"
        printf '%s\n' "$2" | sed 's/^/# expected: /'
        printf '%s\n' "$3" | sed 's/^/# actual:   /'
    fi
}

# skip REASON SENTENCE: one test that cannot run here.
skip()
{
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - $2 # SKIP $1"
}

# passed_on FILE [PREFIX]: the lines of TAP without numbers that something else wrote.
passed_on()
{
    while IFS= read -r tap_line; do
        case $tap_line in
        "ok - "*) ok 0 "${2-}${tap_line#ok - }" ;;
        "not ok - "*) ok 1 "${2-}${tap_line#not ok - }" ;;
        *) echo "# $tap_line" ;;
        esac
    done <"$1"
}

# alone "$@": begins the script anew where no other test's recordings, session daemon and
# shared memory are seen.  The buffers of one user are shared, so a recording sees every
# traced program that runs meanwhile: where namespaces cannot be made, one test runs at a
# time.  Before the first line of output.
alone()
{
    [ -z "${TAP_APART-}" ] || return 0
    tap_hide='ip link set lo up && mkdir -p /var/run/lttng &&
        mount -t tmpfs none /var/run/lttng && mount -t tmpfs none /dev/shm'
    if [ "$(id -u)" -eq 0 ] && unshare --mount --net sh -c "$tap_hide" 2>/dev/null; then
        TAP_APART=yes
        export TAP_APART
        exec unshare --mount --net sh -c "$tap_hide"' && exec "$@"' apart \
            "${top_srcdir:?}/scripts/daemon" sh "$0" "$@"
    fi
    exec 9>"${top_builddir:?}/tests/alone.lock"
    flock 9
}

tap_done()
{
    echo "1..$tap_number"
    [ "$tap_failed" -eq 0 ]
}
