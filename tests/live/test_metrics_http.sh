#!/bin/sh
# SPDX-License-Identifier: MIT
# record --metrics-listen serves the counters over HTTP, and a client that hangs harms nobody.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

if "$ccltap" record --metrics-listen 0 --layers none -- true 2>&1 | grep -q 'built without'; then
    run 2 "without libmicrohttpd it is refused" "$ccltap" record --metrics-listen 0 -- true
    said "with what is missing" "libmicrohttpd-dev"
    tap_done
    exit
fi

NCCL_IB_DISABLE=1
export NCCL_IB_DISABLE
file=$work/job.prom
url()
{
    "$ccltap" status | sed -n 's|.* and at \(http://[^ ]*\)$|\1|p' | grep .
}
ask_http()
{
    /usr/bin/python3 -B "$top_srcdir/tests/live/expect/ask_http.py" "$@" >"$work/tap" 2>"$work/error" ||
        echo "not ok - ask_http.py $1 comes to its end" >>"$work/tap"
    passed_on "$work/tap"
    sed 's/^/# /' "$work/error"
}
# serve ADDRESS: counts a program that waits in $work/N, and sets $at, its URL.
nr=0
serve()
{
    nr=$((nr + 1))
    mkdir "$work/$nr"
    "$ccltap" record --layers none --metrics="$file" --metrics-listen "$1" -- "$programs/counts" \
        "$work/$nr" 2>"$work/err" &
    recorder=$!
    within 60 test -s "$work/$nr/at" || true
    at=$(url || echo none)
}
finish()
{
    for nr in 1 2 3 4; do
        touch "$work/$nr/go" 2>/dev/null || true
    done
    wait
    rm -rf "$work"
}
trap finish EXIT
# over: lets the program end.
over()
{
    touch "$work/$nr/go"
    status=0
    wait "$recorder" || status=$?
}

serve 0
check "status tells the address, which is of loopback" test "${at#http://127.0.0.1:}" != "$at"
/usr/bin/python3 -c 'import sys, urllib.request
sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())' "$at" >"$work/got"
check "the metrics are what the program did" /usr/bin/python3 \
    "$top_srcdir/tests/live/expect/metrics.py" "$work/got" "$work/1/truth" 1
if command -v promtool >/dev/null; then
    same "promtool has nothing to say" "" "$(promtool check metrics <"$work/got" 2>&1 || echo failed)"
else
    skip "promtool is not installed" "promtool has nothing to say"
fi
ask_http answers "$at"
ask_http hangs "$at"
port=${at##*:}
port=${port%/metrics}
run 1 "a port in use is refused" "$ccltap" record --layers none --metrics="$work/other.prom" \
    --metrics-listen "$port" -- touch "$work/ran"
said "with the reason" "cannot listen on 127.0.0.1 port $port .*Address already in use"
check "before the program starts" test ! -e "$work/ran"
check "and nothing is left of it" test ! -e "$work/other.prom"
/usr/bin/python3 -c 'import socket, sys
silent = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20)
silent.sendall(b"GET /met")
print("connected", flush=True)
silent.recv(1)' "$port" >"$work/client" &
check "a client hangs" within 20 test -s "$work/client"
over
same "the program ends well, all the same" 0 "$status"
check "its recording, too" test ! -e "$file"
check "and nobody listens any more" sh -c "! /usr/bin/python3 -c 'import socket
socket.create_connection((\"127.0.0.1\", $port), timeout=20)' 2>/dev/null"

serve "127.0.0.1:$port"
same "the port can be used again at once" "http://127.0.0.1:$port/metrics" "$at"
over
serve '[::1]:0'
case $at in
http://\[::1\]:*) ask_http answers "$at" ;;
*) skip "no IPv6 here" "IPv6" ;;
esac
over
serve 0.0.0.0:0
check "others are served where that is asked for" test "${at#http://0.0.0.0:}" != "$at"
over

# With a session, and by the recording's own supervisor.
run 0 "a program is recorded and served" "$ccltap" record -o "$work/trace" --metrics="$file" \
    --metrics-listen :0 -- sh -c "'$programs/fork_inside' && '$ccltap' status"
check "it says where" grep -q 'metrics: .* and at http://127.0.0.1:' "$work/out"

for wrong in 70000 http 127.0.0.1 ::1:0 '[::1]' '[]:0' 127.0.0.1:x ''; do
    run 2 "\"$wrong\" is no address" "$ccltap" record --metrics-listen "$wrong" -- true
done
said "and it says what is one" "give a port, such as 9400"
run 1 "an address of another host is refused" "$ccltap" record --layers none --metrics="$file" \
    --metrics-listen 192.0.2.1:0 -- true
said "with the reason, too" "cannot listen on 192.0.2.1"

# The library is opened when it is asked for: who does not ask has nothing of it, or of GnuTLS.
loaded()
{
    LD_TRACE_LOADED_OBJECTS=1 "$ccltap" | grep -o "libbabeltrace2\.so\|microhttpd\|gnutls" | sort -u
}
same "ccltap starts without it" libbabeltrace2.so "$(loaded)"
mkdir "$work/lib"
echo "no library" >"$work/lib/libmicrohttpd.so.12"
run 1 "where it is missing, the program is not run" env LD_LIBRARY_PATH="$work/lib" "$ccltap" record \
    --layers none --metrics="$file" --metrics-listen 0 -- touch "$work/ran"
said "and it says what to install" "needs libmicrohttpd: .*libmicrohttpd.so.12.*; install it (Debian: libmicrohttpd12)"
check "the program was not run" test ! -e "$work/ran"
check "and no file is left" test ! -e "$file"
run 0 "doctor runs" env LD_LIBRARY_PATH="$work/lib" "$ccltap" doctor
check "and says so, too" grep -q '^note   metrics .*libmicrohttpd.so.12.*: install libmicrohttpd' "$work/out"
run 0 "doctor runs where it is there" "$ccltap" doctor
check "and says that it is" grep -q '^ok     metrics .*libmicrohttpd.so.12' "$work/out"
tap_done
