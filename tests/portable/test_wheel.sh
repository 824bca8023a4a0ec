#!/bin/sh
# SPDX-License-Identifier: MIT
# The wheel: it is made and fit for PyPI, it runs in a virtual environment of a root that has
# only Python, and the module gives what the views give.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

for tool in patchelf dpkg-query; do
    command -v "$tool" >/dev/null || {
        echo "1..0 # SKIP $tool is not installed: scripts/install-deps tests, on Debian"
        exit 0
    }
done
/usr/bin/python3 -c 'import wheel' 2>/dev/null || {
    echo "1..0 # SKIP there is no Python package wheel: scripts/install-deps tests, on Debian"
    exit 0
}
tools=${CCLTAP_PYTHON_TOOLS-}
no_tools="CCLTAP_PYTHON_TOOLS is not set: scripts/fetch-python-tools makes the folder"
here=$top_srcdir/tests/portable
PYTHONPATH=$top_srcdir/python
PYTHONDONTWRITEBYTECODE=1
PATH=$top_builddir:$PATH
export PYTHONPATH PYTHONDONTWRITEBYTECODE PATH

# A rank that waits for a processor for longer than 3 s would not be recorded, and then no rank is
# late: builds run beside these tests.
LTTNG_UST_REGISTER_TIMEOUT=60000
export LTTNG_UST_REGISTER_TIMEOUT

# ---- The module, with the program that was built ----

module()
{
    check "the module is typed" "$tools/bin/mypy" --strict --cache-dir="$work/mypy" "$top_srcdir/python/ccltap"
    allreduce=$top_builddir/examples/allreduce
    run 0 "a program is recorded" env NCCL_IB_DISABLE=1 "$ccltap" record -o "$work/trace" -- \
        "$allreduce" -n 2 -i 10 --late-rank 1
    "$tools/bin/python" "$here/module.py" "$work/trace" >"$work/said" 2>&1 || true
    [ -s "$work/said" ] || echo "not ok - module.py says something" >"$work/said"
    passed_on "$work/said"
    check "it came to its end" grep -q 'a recording that is not there' "$work/said"
    # Another recording goes on meanwhile, which is not meant.
    mkfifo "$work/end"
    "$ccltap" record --paused -o "$work/other" -- cat "$work/end" >"$work/other.out" 2>&1 &
    other=$!
    exec 7>"$work/end"
    check "another program is recorded" within 30 "$ccltap" status "$work/other"
    run 0 "a part of a program is recorded" "$ccltap" record --paused -o "$work/part" -- \
        "$tools/bin/python" "$here/part.py" "$top_builddir/tests/doubles/nccl/libnccl.so.2"
    same "it is that part" "in the block: 5 in both: 16" "$(tr '\n' ' ' <"$work/out" | sed 's/ $//')"
    exec 7>&-
    status=0
    wait "$other" || status=$?
    same "the other recording ends well" 0 "$status"
    check "and has nothing" sh -c "! '$ccltap' timeline '$work/other' 2>/dev/null | grep -q ncclGetVersion"
}
if [ -n "$tools" ]; then
    module
else
    skip "$no_tools" "the module gives what the views give"
fi

# ---- The wheel ----

# The build folder has one portable form.
exec 8>"$top_builddir/tests/portable.lock"
flock 8
check "the wheel is made" env -u MAKEFLAGS make -C "$top_builddir" wheel
mkdir "$work/wheel"
cp "$top_builddir"/ccltap-*-manylinux_*.whl "$work/wheel/"
flock -u 8
wheel=$(echo "$work"/wheel/*.whl)
fit()
{
    check "PyPI would take it" "$tools/bin/twine" check --strict "$wheel"
    run 0 "auditwheel reads it" "$tools/bin/auditwheel" show "$wheel"
    check "it runs where it says" grep -q "manylinux_2_34_$(uname -m)" "$work/out"
}
if [ -n "$tools" ]; then
    fit
else
    skip "$no_tools" "PyPI would take it"
fi

for release in bookworm trixie; do
    root=${CCLTAP_ROOTS-}/$release
    if [ -z "${CCLTAP_ROOTS-}" ] || [ ! -d "$root" ]; then
        skip "CCLTAP_ROOTS has no root of it: scripts/check makes it, as root" "it runs in $release"
        continue
    fi
    if ! unshare -mpf --kill-child true 2>/dev/null; then
        skip "no mount namespace can be made here" "it runs in $release"
        continue
    fi
    tar -C "$work" -cf "$work/wheel.tar" wheel -C "$top_srcdir/examples" late_rank.py
    timeout 600 unshare -mpf --kill-child sh "$here/enter.sh" "$root" "$work/wheel.tar" \
        "$here/inside-wheel.sh" >"$work/$release" 2>&1 || true
    passed_on "$work/$release" "$release: "
    check "$release: it came to its end" grep -q 'leaves nothing' "$work/$release"
done

tap_done
