#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules of the tree that a script can check, and that the checks find what they are for.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=${top_builddir:?}/tests/tree/work.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"

fails() # COMMAND...
{
    ! "$@"
}

check "includes follow the layers" "$top_srcdir/scripts/check-layers" "$top_srcdir"
mkdir -p "$work/src/join/gpu"
echo '#include "join/nccl/kernel.h"' >"$work/src/join/gpu/right.c"
check "an include along the layers is no mistake" "$top_srcdir/scripts/check-layers" "$work"

# One arrow of each kind that is not there.
while read -r path included; do
    mkdir -p "$work/src/${path%/*}"
    echo "#include \"$included\"" >"$work/src/$path"
    check "that $path includes $included is found" fails "$top_srcdir/scripts/check-layers" "$work"
    rm -r "$work/src"
done <<'END'
common/wrong.c calls/kinds.h
calls/wrong.c tracepoints/nccl_tp.h
tracepoints/wrong.c intercept/entry.h
intercept/wrong.c verbs/entry_point.h
verbs/wrong.c intercept/entry.h
cupti/wrong.c intercept/entry.h
tools/wrong.c join/join.h
join/model/wrong.c intercept/entry.h
join/base/wrong.c join/model/span.h
join/base/wrong.c calls/kinds.h
join/model/wrong.c join/ranks/operations.h
join/model/wrong.c join/rdma/qp.h
join/model/wrong.c join/nccl/kernel.h
join/model/wrong.c join/gpu/cuda.h
join/model/wrong.c join/views/view.h
join/model/wrong.c join/join.h
join/ranks/wrong.c join/rdma/qp.h
join/ranks/wrong.c join/nccl/kernel.h
join/ranks/wrong.c join/gpu/cuda.h
join/ranks/wrong.c join/views/view.h
join/ranks/wrong.c join/join.h
join/rdma/wrong.c join/ranks/operations.h
join/rdma/wrong.c join/nccl/net_message.h
join/rdma/wrong.c join/gpu/cuda.h
join/rdma/wrong.c join/views/view.h
join/rdma/wrong.c join/join.h
join/nccl/wrong.c join/ranks/operations.h
join/nccl/wrong.c join/gpu/cuda.h
join/nccl/wrong.c join/views/view.h
join/nccl/wrong.c join/join.h
join/gpu/wrong.c join/ranks/operations.h
join/gpu/wrong.c join/rdma/qp.h
join/gpu/wrong.c join/views/view.h
join/gpu/wrong.c join/join.h
join/views/wrong.c join/ranks/operations.h
join/views/wrong.c join/gpu/cuda.h
join/views/wrong.c join/report/defect.h
join/views/wrong.c join/bt/merge.h
join/views/wrong.c join/join.h
join/report/wrong.c join/gpu/cuda.h
join/report/wrong.c join/rdma/wr.h
join/report/wrong.c join/bt/merge.h
join/report/wrong.c join/join.h
join/views/wrong.c join/export/tables.h
join/export/wrong.c join/gpu/cuda.h
join/export/wrong.c join/report/defect.h
join/export/wrong.c join/bt/merge.h
join/bt/wrong.c join/export/tables.h
join/bt/wrong.c join/gpu/gpu.h
join/bt/wrong.c join/report/defect.h
join/bt/wrong.c calls/kinds.h
join/join.h join/views/view.h
join/join.c join/views/view.h
join/join.c join/bt/merge.h
join/plugin.c join/join.h
join/misc/wrong.c join/base/table.h
END

finds() # MESSAGE TREE: what check-layers says of it
{
    "$top_srcdir/scripts/check-layers" "$2" 2>&1 | grep -q "$1"
}
for folder in dl/cuda stack/nccl cuda/nccl nvtx/nccl nccl/stack; do
    wrong=src/intercept/${folder%/*}/wrong.c
    mkdir -p "$work/$folder/${wrong%/*}"
    echo "#include \"intercept/${folder#*/}/wrong.h\"" >"$work/$folder/$wrong"
    check "$wrong may not include ${folder#*/}" \
        finds "$wrong:1 may not include intercept/${folder#*/}/wrong.h" "$work/$folder"
done
mkdir -p "$work/circle/src/intercept"
echo '#include "intercept/two.h"' >"$work/circle/src/intercept/one.h"
echo '#include "intercept/three.h"' >"$work/circle/src/intercept/two.c"
check "three files without a circle are let pass" "$top_srcdir/scripts/check-layers" "$work/circle"
echo '#include "intercept/one.h"' >"$work/circle/src/intercept/three.c"
check "a circle of them is found" finds "in a circle: intercept/.* intercept/.* intercept/" "$work/circle"
mkdir -p "$work/circle2/src/join/model"
echo '#include "join/model/two.h"' >"$work/circle2/src/join/model/one.c"
echo '#include "join/model/one.h"' >"$work/circle2/src/join/model/two.h"
check "a circle in the reader is found" finds "in a circle: join/model/.* join/model/" "$work/circle2"

mkdir -p "$work/allocates/src/verbs"
echo '#include "common/vec.h"' >"$work/allocates/src/verbs/wrong.c"
check "what allocates is found in the traced program" finds "verbs/wrong.c .*vec.h" "$work/allocates"

check "the libraries export and call what they may" \
    "$top_srcdir/scripts/check-exports" "$top_builddir"
mkdir -p "$work/build/.libs"
cp "$top_builddir/.libs/libccltap.so" "$work/build/.libs/libccltap-events.so"
cp "$top_builddir/.libs/libccltap.so" "$work/build/.libs/"
ln -s "$top_builddir/list-calls" "$work/build/list-calls"
check "a library that exports something else is found" \
    fails "$top_srcdir/scripts/check-exports" "$work/build"

# One that does not includes what somebody else happened to include before.
for header in $(cd "$top_srcdir" && find src -name '*.h' ! -name '*_tp.h' | sort); do
    echo "#include \"${header#src/}\"" >"$work/alone.c"
    # shellcheck disable=SC2046,SC2086 # both may be lists of options
    check "$header compiles alone" $CC -std=gnu11 -D_GNU_SOURCE -fsyntax-only \
        -I"$top_srcdir/src" $(pkg-config --cflags babeltrace2) "$work/alone.c"
done

if command -v shellcheck >/dev/null; then
    # shellcheck disable=SC2046 # a list of names without spaces
    check "shell scripts are clean" shellcheck -x -P "$top_srcdir" $(cd "$top_srcdir" &&
        grep -lE '^#!/bin/(sh|bash)|^# shellcheck shell' bootstrap scripts/* portable/* tests/*/*.sh tests/rdma/* |
        sed "s|^|$top_srcdir/|")
else
    skip "shellcheck is not installed: scripts/install-deps tests" "shell scripts are clean"
fi

if command -v man >/dev/null; then
    for page in "$top_srcdir"/doc/man/*; do
        # One that is another's page says where it will be when both are installed.
        other=$(sed -n 's|^\.so man1/||p' "$page")
        if [ -n "$other" ]; then
            check "$(basename "$page") is another page" test -e "$top_srcdir/doc/man/$other"
            continue
        fi
        check "$(basename "$page") is well formed" sh -c \
            "LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z '$page' 2>&1 >/dev/null | { ! grep .; }"
    done
else
    skip "man is not installed: scripts/install-deps tests" "manual pages are well formed"
fi

tap_done
