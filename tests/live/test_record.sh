#!/bin/sh
# SPDX-License-Identifier: MIT
# The program that is recorded is not disturbed, and its end is ours.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

record="$ccltap record --overwrite -o $work/trace --"

# shellcheck disable=SC2086,SC2016
{
run 0 "a program that succeeds" $record true
said "a program that calls nothing is told so" "nothing was attached"
check "its session is gone" \
    sh -c '! lttng list | grep -q "$1"' - "$(session "$work/trace")"
run 3 "the program's exit status is ours" $record sh -c 'exit 3'
run 139 "a program that dies by a signal" $record sh -c 'kill -SEGV $$'
run 137 "a program that is killed" $record sh -c 'kill -KILL $$'
said "a killed program still gets its closing line" "in $work/trace"

# A shell would tell 128 + 11 and death by signal 11 apart only by looking here.
check "the signal is one for whoever waits as well" python3 -c '
import subprocess, sys
sys.exit(subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL).returncode != -15)
' $record sh -c 'kill -TERM $$'

seq 1 20000 >"$work/in"
$record cat <"$work/in" >"$work/out" 2>"$work/err"
check "stdin and stdout are the program's" cmp "$work/in" "$work/out"
same "ours is one line on stderr" 1 "$(wc -l <"$work/err")"
$record sh -c 'echo complaint >&2' 2>"$work/err" >"$work/out"
same "it comes after the program's last" complaint "$(head -n 1 "$work/err")"
same "a closed stderr changes nothing" 4 "$($record sh -c 'exit 4' 2>&- || echo $?)"
}

# surroundings: all that a program can see of how it was started.
# shellcheck disable=SC2016
surroundings='
    umask; pwd; ulimit -a
    grep -E "^(Sig(Pnd|Blk|Ign)|ShdPnd|Groups|NoNewPrivs)" /proc/self/status
    for fd in /proc/$$/fd/*; do echo "${fd##*/}"; done
    cut -d " " -f 5,6 /proc/$$/stat
    env | grep -vE "^(LD_PRELOAD|NVTX_INJECTION64_PATH|CCLTAP_JOB|CCLTAP_RECORDER|_)=" | sort'
# shellcheck disable=SC2086
{
same "nothing but LD_PRELOAD, NVTX_INJECTION64_PATH and our own variables is changed" \
    "$(cd /; sh -c "$surroundings")" "$(cd /; $record sh -c "$surroundings" 2>/dev/null)"
same "nor with signals ignored" \
    "$(trap '' INT HUP CHLD PIPE; sh -c "$surroundings")" \
    "$(trap '' INT HUP CHLD PIPE; $record sh -c "$surroundings" 2>/dev/null)"
run 6 "a status is learned where SIGCHLD was ignored" \
    sh -c "trap '' CHLD; exec $record sh -c 'exit 6'"
}

guard=$(LD_PRELOAD=liblttng-ust-fd.so.1 ldd /bin/sh | sed -n 's/.*-fd.so.1 => \([^ ]*\).*/\1/p')
# shellcheck disable=SC2086,SC2016
{
same "the tracer is preloaded, and LTTng's guard of descriptors" \
    "$(realpath "$CCLTAP_LIBDIR")/libccltap.so:$guard" \
    "$($record sh -c 'echo $LD_PRELOAD' 2>/dev/null)"
check "the job is the session" sh -c '[ "$1" = "$2" ]' - \
    "$($record sh -c 'echo $CCLTAP_JOB' 2>/dev/null)" "$(session "$work/trace")"
same "a job that has a name keeps it" seven \
    "$(CCLTAP_JOB=seven $record sh -c 'echo $CCLTAP_JOB' 2>/dev/null)"
}

run 127 "no such program" "$ccltap" record -o "$work/none" -- "$work/nosuch"
said "it is told" "no such program"
touch "$work/plain"
run 126 "a file that is no program" "$ccltap" record -o "$work/none" -- "$work/plain"
mkdir "$work/bin"
printf '#!/nonexistent/interpreter\n' >"$work/bin/orphan"
chmod +x "$work/bin/orphan"
run 127 "a program without its interpreter" "$ccltap" record -o "$work/none" -- \
    "$work/bin/orphan"
check "no trace is left of what could not be run" test ! -e "$work/none"

run 2 "a verb is needed" "$ccltap"
said "it is told" "verb is missing"
run 2 "an unknown verb" "$ccltap" sing
said "it is told" 'no verb "sing"'
run 2 "an unknown option" "$ccltap" record --sing true
run 2 "a program is needed" "$ccltap" record -o "$work/none"
run 2 "a size that is none" "$ccltap" record --buffer-size=3x true
run 1 "buffers that do not fit" "$ccltap" record -o "$work/none" --buffer-size=16G true
said "it is told what does not fit" "buffers for .* processors need .* KiB"
CCLTAP_LIBDIR=$work run 1 "no tracer" "$ccltap" record -o "$work/none" true
said "it is told where it was sought" "cannot read $work/libccltap.so"
check "no trace is left of any of these" test ! -e "$work/none"

# Only root can have a daemon of one's own beside the machine's.
private='
    set -eu
    mount -t tmpfs tmpfs /var/run/lttng 2>/dev/null || mount -t tmpfs tmpfs /run/lttng'
if unshare -m sh -c "$private" 2>/dev/null; then
    LTTNG_SESSIOND_PATH=$work/nosuch run 1 "no session daemon, and none to start" \
        unshare -m sh -c "$private; exec \"\$@\"" - "$ccltap" record -o "$work/none" true
    said "it is told" "no session daemon runs"
    # shellcheck disable=SC2016
    run 9 "a session daemon that is killed midway" unshare -m sh -c "$private"'
        run=/var/run/lttng
        "$@" sh -c "kill -KILL \$(cat $run/lttng-sessiond.pid); exit 9"' - \
        "$ccltap" record -o "$work/killed"
    said "it is told" "the LTTng session daemon failed"
    # shellcheck disable=SC2016
    run 8 "a trace that is removed midway" sh -c '"$@" sh -c "rm -r $0; exit 8"' \
        "$work/gone/$host" "$ccltap" record -o "$work/gone"
    said "it is told" "the directory was removed"
else
    skip "needs a mount namespace" "no session daemon, and none to start"
    skip "needs a mount namespace" "a session daemon that is killed midway"
fi
tap_done
