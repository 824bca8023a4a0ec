#!/bin/sh
# SPDX-License-Identifier: MIT
# What make check-gpu runs on a machine with a GPU, here on the doubles, from a folder as
# the tarball's but with this build's ccltap; and what it says where there is no GPU.  That
# its judgements can fail: tests/gpu/spoilt.py.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

for tool in xz python3; do
    command -v "$tool" >/dev/null || {
        echo "1..0 # SKIP $tool is not installed: scripts/install-deps tests"
        exit 0
    }
done

# The place of the portable form.
mkdir -p "$work/portable/bin"
printf '#!/bin/sh\nCCLTAP_LIBDIR=%s exec %s "$@"\n' "$(cd "$CCLTAP_LIBDIR" && pwd)" \
    "$(cd "$top_builddir" && pwd)/ccltap" >"$work/portable/bin/ccltap"
chmod +x "$work/portable/bin/ccltap"
for tool in lttng lttng-sessiond babeltrace2; do
    ln -s "$(command -v "$tool")" "$work/portable/bin/$tool"
done
name=${work#"$top_builddir"/}
check "what goes to a machine with a GPU is put together" \
    "$top_srcdir/scripts/make-gpu-tarball" "$top_builddir" "$name/portable" "$name/gpu"
here=$work/gpu

run 0 "without a GPU it ends well" env CHECK_GPU_LIBCUDA="$work/none" "$here/check-gpu" \
    --quick --results "$work/without"
same "and skips all parts" "9 9" \
    "$(sed -n 's/^1\.\.//p' "$work/out") $(grep -c '# SKIP no GPU: .*none: cannot open' "$work/out")"
run 0 "without python3 it says so" env PYTHON="$work/none" "$here/check-gpu"
check "as TAP does" grep -q '^1..0 # SKIP there is no python3' "$work/out"
run 0 "a command line has help" "$here/check-gpu" --help
run 2 "and a wrong one is told" "$here/check-gpu" --quikc

CHECK_GPU_DOUBLES=1
export CHECK_GPU_DOUBLES
run 0 "on the doubles all goes well" "$here/check-gpu" --quick --results "$work/results" \
    --keep "$work/kept"
grep '^not ok' "$work/out" | sed 's/^/# /' || true
sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/# not here: \1: \2/p' "$work/out"
check "it comes to its end" grep -q '^1\.\.[0-9]' "$work/out"
same "what a double cannot show is skipped with a reason" 0 \
    "$(grep -c '# SKIP *$' "$work/out")"
for sentence in 'calls: each operation.s launch says' 'algorithms: .* RING and SIMPLE' \
    'wire: the requests' 'oracle: NET/IB: no message' 'work: as many' 'graphs: each replay says' 'pytorch: 2 ranks with' \
    'cost: launches'; do
    check "checked and not skipped: $sentence" \
        sh -c "grep -v SKIP '$work/out' | grep -q '^ok .* - $sentence'"
done
check "the page says that these are doubles" grep -q 'results of \*\*doubles\*\*' \
    "$work/results/results.md"
same "and has no times of them" 0 "$(grep -c ' us |' "$work/results/results.md")"
check "results are JSON" python3 -c 'import json, sys
results = json.load(open(sys.argv[1]))
sys.exit(not results["facts"]["double"] or bool(results["costs"]))' \
    "$work/results/results.json"
cp "$top_srcdir/doc/gpu-results.md" "$work/page"
check "and do not get into the page" sh -c "! env -u MAKEFLAGS make -s -C '$top_builddir' \
    doc-gpu GPU_RESULTS='$work/results' && cmp '$work/page' '$top_srcdir/doc/gpu-results.md'"

PYTHONDONTWRITEBYTECODE=1 python3 "$top_srcdir/tests/gpu/spoilt.py" "$work/kept" \
    >"$work/spoilt" 2>&1 || true
passed_on "$work/spoilt"
check "all judgements were tried" grep -q '^end$' "$work/spoilt"
tap_done
