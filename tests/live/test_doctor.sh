#!/bin/sh
# SPDX-License-Identifier: MIT
# `ccltap doctor` finds what is wrong, says how to mend it, and changes nothing.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

# found SENTENCE LINE: a line of the last run.
found()
{
    check "$1" grep -qE "^$2" "$work/out"
}

run 0 "where all is well it says so" "$ccltap" doctor
found "the tracer is there" "ok     tracer "
found "so is the reader" "ok     reader "
found "and a session daemon, which takes programs" "ok     session daemon .*takes programs"
same "nothing is wrong" 0 "$(grep -c '^wrong' "$work/out")"
same "it says nothing on stderr" "" "$(cat "$work/err")"

run 0 "for programs" "$ccltap" doctor --json
check "each line is an object" /usr/bin/python3 - "$work/out" <<'EOF'
import json, sys
found = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert {"tracer", "reader", "session daemon", "shared memory"} <= {f["check"] for f in found}
assert all(f["state"] in ("ok", "note", "wrong") and f["text"] for f in found), found
assert all(f["remedy"] for f in found if f["state"] == "wrong"), found
EOF

CCLTAP_LIBDIR=$work run 1 "a tracer that is not there" "$ccltap" doctor
found "it says where it was sought" "wrong  tracer .*$work/libccltap.so: .*: .*CCLTAP_LIBDIR"
mkdir "$work/lib"
cp "$CCLTAP_LIBDIR/libccltap.so" "$CCLTAP_LIBDIR/libccltap-events-hip.so" "$work/lib"
echo "no library" >"$work/lib/libccltap-events.so"
CCLTAP_LIBDIR=$work/lib run 1 "one that cannot be loaded" "$ccltap" doctor
found "it says why" "wrong  tracer .*cannot be loaded: .*libccltap-events.so"
# shellcheck disable=SC2016
run 1 "few descriptors" sh -c 'ulimit -n 40; exec "$0" doctor' "$ccltap"
found "it says how to get more" "wrong  descriptors .*40.*ulimit -n"
NVTX_INJECTION64_PATH=/opt/tool.so run 0 "somebody else's tool" "$ccltap" doctor
found "it is named" "note   environment .*NVTX_INJECTION64_PATH: /opt/tool.so"
CUDA_INJECTION64_PATH=/opt/gpu.so run 0 "somebody else's tool for GPUs" "$ccltap" doctor
found "it may hold CUPTI" "note   CUPTI .*/opt/gpu.so .*: unset CUDA_INJECTION64_PATH"
found "where the processor's number is" "(ok|note)   *rseq "
GLIBC_TUNABLES=glibc.pthread.rseq=0 run 0 "glibc keeps away from it" "$ccltap" doctor
found "it says why it is not there" "(ok|note)   *rseq .*(turned off|refuses|older)"
found "mappings are counted" "ok     kernel .*mappings"
run 2 "an argument" "$ccltap" doctor me
said "it is told" "takes no argument"

# Only root can have a daemon of one's own, or memory, beside the machine's.
if unshare -m true 2>/dev/null; then
    # shellcheck disable=SC2016
    LTTNG_SESSIOND_PATH=$work/nosuch run 1 "no session daemon, and none to start" \
        unshare -m sh -c 'mount -t tmpfs tmpfs /run/lttng && exec "$0" doctor' "$ccltap"
    found "it says how to get one" "wrong  session daemon .*nosuch: install LTTng"
    # shellcheck disable=SC2016
    run 1 "a session daemon that hangs" unshare -m sh -c '
        mount -t tmpfs tmpfs /run/lttng
        lttng-sessiond --daemonize >/dev/null 2>&1
        pid=$(cat /run/lttng/lttng-sessiond.pid)
        kill -STOP "$pid"
        status=0
        "$0" doctor || status=$?
        kill -KILL "$pid"
        exit "$status"' "$ccltap"
    found "it says so" "wrong  session daemon .*does not answer"
    # shellcheck disable=SC2016
    run 1 "little shared memory" unshare -m sh -c \
        'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$0" doctor' "$ccltap"
    found "it says how much is needed" "wrong  shared memory .* need [0-9]* KiB.*--shm-size"
    # large PAGE: of a machine with 144 processors, in a container with the usual shared memory.
    large()
    {
        # shellcheck disable=SC2016
        MACHINE_PAGE=$1 MACHINE_PROCESSORS=144 LD_PRELOAD=$programs/machine.so unshare -m sh -c \
            'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$0" doctor' "$ccltap"
    }
    large 4096 >"$work/out" || true # descriptors may be too few for so many processors
    found "144 processors and 64 MB: small buffers fit" "note   shared memory .* a buffer of 64 KiB"
    large 65536 >"$work/out" || true
    found "with pages of 64 KB no buffer is smaller than a page" "wrong  shared memory .*144 processors need 968.. KiB.*--shm-size"
else
    skip "no mount namespace: run as root" "what is wrong with daemons and memory"
fi

tap_done
