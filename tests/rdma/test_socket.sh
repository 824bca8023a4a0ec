#!/bin/sh
# SPDX-License-Identifier: MIT
# NCCL's own NET/Socket over loopback, with each setting that changes what it sends: one socket,
# helper threads with several, short messages beside their headers or not, and small buffers, so
# that calls move a part.  ccltap tells each message as it was, at both ends; with
# CCLTAP_DECODE=0 it tells bytes alone.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

nib=$top_builddir/tests/rdma/nib
here=$top_srcdir/tests/rdma
CCLTAP=$ccltap
export CCLTAP NCCL_SOCKET_IFNAME=lo

run 77 "a library without symbols is said to be one" "$nib" --socket --describe \
    "$CCLTAP_LIBDIR/libccltap.so"
check "by name" grep -q "libccltap.so: ncclNetSocket is not in .symtab" "$work/err"

# NAME SOCKETS LARGEST VARIABLE...  With small buffers NCCL's helper threads, which never rest,
# take turns on the processors for each 2 KiB: no large messages there.
cat >"$work/settings" <<'END'
one 1 1048576
two-threads 5 1048576 NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=2
four-threads 5 1048576 NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=1
one-thread 2 1048576 NCCL_SOCKET_NTHREADS=1 NCCL_NSOCKS_PERTHREAD=1
no-inline 1 1048576 NCCL_SOCKET_INLINE=0
long-inline 1 1048576 NCCL_SOCKET_INLINE=4096
long-inline-threads 3 1048576 NCCL_SOCKET_INLINE=4096 NCCL_SOCKET_NTHREADS=2
  NCCL_NSOCKS_PERTHREAD=1
small-tasks 5 1048576 NCCL_SOCKET_MIN_TASKSIZE=4096 NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=2
small-buffers 1 65536 NCCL_SOCKET_SNDBUF=4608 NCCL_SOCKET_RCVBUF=2304
small-buffers-threads 5 8192 NCCL_SOCKET_SNDBUF=4608 NCCL_SOCKET_RCVBUF=2304 NCCL_SOCKET_NTHREADS=2
  NCCL_NSOCKS_PERTHREAD=2 NCCL_SOCKET_MIN_TASKSIZE=4096
END

cat >"$work/all" <<END
#!/bin/sh
# all FOLDER MESSAGES SETTING...: the settings whose names match, for each library.
set -eu
folder=\$1 messages=\$2 wanted=\$3
for library in $(echo "${CCLTAP_REAL_NCCL-}:${CCLTAP_MORE_NCCL-}" | tr ':' ' '); do
    release=\$(basename "\$(dirname "\$library")")
    sed -e ':more' -e '\$!N' -e 's/\\n  */ /' -e 'tmore' -e 'P' -e 'D' "$work/settings" |
    while read -r name sockets largest variables; do
        case \$name in \$wanted) ;; *) continue ;; esac
        to=\$folder/\$release.\$name
        mkdir -p "\$to"
        echo "\$sockets" >"\$to/sockets"
        # shellcheck disable=SC2086 # several variables
        env \$variables '$nib' --socket --messages "\$messages" --max-size "\$largest" \\
            --log "\$to/log" "\$library" </dev/null >"\$to/out" 2>&1 || {
            echo "\$release, \$name: status \$?: \$(cat "\$to/out")" >&2
            exit 1
        }
    done
done
END
if [ -z "${CCLTAP_REAL_NCCL-}" ]; then
    skip "CCLTAP_REAL_NCCL names none: scripts/fetch-nccl gets one" "NCCL's NET/Socket"
    tap_done
    exit
fi

# On a busy machine the stock library has told, without ccltap, a length that no message had:
# what it does wrong by itself once is not for this test to find.
bare()
{
    sh "$work/all" "$work/bare" 300 '*' && return
    echo "bare: once more"
    rm -rf "$work/bare"
    sh "$work/all" "$work/bare" 300 '*'
}
run 0 "bare: all settings" bare
run 0 "recorded: all settings" "$ccltap" record -o "$work/trace" -- \
    sh "$work/all" "$work/recorded" 300 '*'
status=0
python3 "$here/socket_score.py" "$work/trace" "$work"/recorded/* >"$work/scored" 2>&1 || status=$?
sed 's/^/# /' "$work/scored"
ok "$status" "ccltap tells each message as it was"
check "and finds nothing missing" "$ccltap" check "$work/trace"
check "its timeline reads" "$ccltap" timeline --format jsonl -o "$work/jsonl" "$work/trace"
check "each connection is told, and no other" python3 "$here/connections.py" "$work/jsonl" \
    NET/Socket "$work"/recorded/*
check "no thread is taken for another one" \
    python3 "$top_srcdir/tests/live/expect/stock_threads.py" --some "$work/jsonl"

# The same, of a log in which both ends say that a message was longer, and of one more message.
first=$(find "$work/recorded" -name '*.one' | head -n 1)
cp -r "$first" "$work/longer"
sed -i 's/^\(0>1 [a-z]* 7 7 0 1\) /\1 1/' "$work"/longer/log.?
check "nor is one that another log has" sh -c \
    "! python3 '$here/connections.py' '$work/jsonl' NET/Socket '$work'/recorded/* '$work/longer'"
rm -f "$work/jsonl"
check "and not as another log says" \
    sh -c "! python3 '$here/socket_score.py' '$work/trace' '$work'/recorded/*/ '$work/longer'"

CCLTAP_DECODE=0
export CCLTAP_DECODE
run 0 "not decoded: all settings" "$ccltap" record -o "$work/undecoded" -- \
    sh "$work/all" "$work/plain" 100 '*'
unset CCLTAP_DECODE
status=0
python3 "$here/socket_score.py" --inferred 99 "$work/undecoded" "$work"/plain/* >"$work/scored" \
    2>&1 || status=$?
sed 's/^/# /' "$work/scored"
ok "$status" "not decoded: messages are inferred, and none is wrong"
first=$(find "$work/plain" -name '*.one' | head -n 1)
sed -i 's/^\(0>1 [a-z]* 7 7 0 1\) /\1 1/' "$first"/log.?
check "not decoded: and not as another log says" \
    sh -c "! python3 '$here/socket_score.py' --inferred 99 '$work/undecoded' '$work'/plain/*"
tap_done
