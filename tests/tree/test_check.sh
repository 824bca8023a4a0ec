#!/bin/sh
# SPDX-License-Identifier: MIT
# scripts/check in a small tree whose builds and tests take no time: the order of its parts, what
# it counts, and that nothing of it goes on after its end.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/scripts"
cp "$top_srcdir/scripts/check" "$top_srcdir/scripts/skipped" "$tree/scripts/"

# stub NAME: the script there, of standard input, which first says that it ran.
stub()
{
    {
        echo '#!/bin/sh'
        # shellcheck disable=SC2016 # for the stub
        echo 'echo "${0##*/} $*" | sed "s|$TREE/build/||g" >>"$TREE/said"'
        cat
    } >"$tree/scripts/$1"
    chmod +x "$tree/scripts/$1"
}
for name in install-deps fetch-nccl fetch-cuda fetch-python-tools fetch-duckdb minimal-root check-dist; do
    stub "$name" </dev/null
done
stub daemon <<'END'
exec "$@"
END
# In each build the same Makefile: a part ends when the file HOLD-PART is gone, and fails if there
# is a file FAIL-PART.
stub build <<'END'
case $* in
*CC=clang*) part=clang ;;
*) part=gcc ;;
esac
mkdir -p "$1"
cp "$TREE/parts.mk" "$1/Makefile"
"$TREE/part" "$part"
END
cat >"$tree/part" <<'END'
#!/bin/sh
n=0
while [ -e "$TREE/HOLD-$1" ] && [ $n -lt 600 ]; do
    sleep 0.1
    n=$((n + 1))
done
echo "$1 ends" >>"$TREE/said"
[ ! -e "$TREE/FAIL-$1" ]
END
chmod +x "$tree/part"
cat >"$tree/parts.mk" <<'END'
SHELL = /bin/sh
print-tests:
	@echo live reader
print-reader-tests:
	@echo reader
print-release:
	@echo release.tar
check:
	@for test in $(TESTS); do $(TREE)/part $$test && result=PASS || result=FAIL; \
	    echo "$$result: $$test" >$$test.log; echo ":test-result: $$result" >$$test.trs; \
	    test $$result = PASS || { echo "FAIL: $$test"; exit 1; }; done
check-rdma:
	@$(MAKE) check TESTS=rdma
distcheck:
	@$(TREE)/part distcheck
END
TREE=$tree
export TREE
# Everything that it would fetch is there.
CCLTAP_ROOTS=$tree
export CCLTAP_ROOTS
unset CI MAKEFLAGS MAKELEVEL MFLAGS AM_MAKEFLAGS

# counts: the last line, which counts.
counts()
{
    tail -n 1 "$tree/out"
}

whole() # how scripts/check ends, from its begin
{
    rm -rf "$tree/build" "$tree/said"
    status=0
    "$tree/scripts/check" >"$tree/out" 2>&1 </dev/null || status=$?
    echo "status $status, $(counts)"
}

begin() # PART: scripts/check, while this part waits
{
    rm -rf "$tree/build" "$tree/said"
    : >"$tree/HOLD-$1"
    "$tree/scripts/check" >"$tree/out" 2>&1 </dev/null &
    running=$!
}

finish() # PART: which goes on; how all ends
{
    rm -f "$tree/HOLD-$1"
    status=0
    wait "$running" || status=$?
    ended="status $status, $(counts)"
}

until_ends() # PART: waits until it has, half a minute at most
{
    n=0
    until grep -qs "^$1 ends" "$tree/said"; do
        n=$((n + 1))
        [ $n -lt 300 ] || return 1
        sleep 0.1
    done
}

has_ended() # PART
{
    grep -qs "^$1 ends" "$tree/said"
}

fails() # COMMAND...
{
    ! "$@"
}

order() # PART|PART: in the order in which they ended
{
    grep -E "^($1) ends" "$tree/said" | sed 's/ .*//' | tr '\n' ' '
}

goes_on() # PART: a process that waits for it
{
    pgrep -f "$tree/part $1" >/dev/null
}

until_begins() # PART
{
    n=0
    until goes_on "$1"; do
        n=$((n + 1))
        [ $n -lt 300 ] || return 1
        sleep 0.1
    done
}

until_gone() # PART: the processes that wait for it end by themselves after a minute
{
    n=0
    while goes_on "$1"; do
        n=$((n + 1))
        [ $n -lt 100 ] || return 1
        sleep 0.1
    done
}

same "each of the four parts is counted" "status 0, 4 passed, 0 failed, 0 skipped" "$(whole)"
: >"$tree/FAIL-rdma"
same "a test that fails too" "status 1, 3 passed, 1 failed, 0 skipped" "$(whole)"
check "and it is shown" grep -q '^FAIL: rdma' "$tree/out"
rm "$tree/FAIL-rdma"
: >"$tree/FAIL-distcheck"
same "so is a release that fails" "status 1, 3 passed, 1 failed, 0 skipped" "$(whole)"
check "and it is shown" grep -q '^not ok - make distcheck' "$tree/out"
rm "$tree/FAIL-distcheck"

apart='ip link set lo up && mkdir -p /var/run/lttng && mount -t tmpfs none /var/run/lttng &&
    mount -t tmpfs none /dev/shm'
if [ "$(id -u)" -eq 0 ] && unshare --mount --net sh -c "$apart" 2>/dev/null; then
    begin gcc
    check "the build with clang does not wait for the one with gcc" until_ends clang
    check "nor does what follows it" until_ends distcheck
    check "the first tests wait for theirs" fails has_ended live
    finish gcc
    same "all pass" "status 0, 4 passed, 0 failed, 0 skipped" "$ended"

    begin distcheck
    check "the emulated machine does not wait for the release" until_ends rdma
    same "but for the tests that record" "live rdma " "$(order 'live|rdma')"
    finish distcheck
    same "the release is counted when it comes last" \
        "status 0, 4 passed, 0 failed, 0 skipped" "$ended"

    : >"$tree/FAIL-gcc"
    : >"$tree/HOLD-clang"
    begin gcc
    check "the second build goes on" until_begins clang
    finish gcc
    check "without the first build there is no test" fails has_ended live
    check "and nothing of the second goes on" until_gone clang
    rm "$tree/FAIL-gcc" "$tree/HOLD-clang"

    begin distcheck
    check "the release is made" until_begins distcheck
    until_ends rdma
    kill -TERM "$running"
    finish none
    same "who ends the script ends it" "status 143" "${ended%%,*}"
    check "with all that goes on beside it" until_gone distcheck
    rm "$tree/HOLD-distcheck"
else
    skip "no mount namespace can be made here" "two builds go on at once"
fi
tap_done
