#!/bin/sh
# SPDX-License-Identifier: MIT
# The alert rules do what they say, by Prometheus' own program; and the panels of the dashboard and
# the rules ask for metrics that ccltap has.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

share=$top_srcdir/share/ccltap
dashboard=$share/grafana/ccltap.json
work=prometheus.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT
cp "$share/prometheus/ccltap.rules.yml" "$top_srcdir/tests/tree/rules_test.yml" "$work"

# What the dashboard asks, as rules, so that promtool reads it.
/usr/bin/python3 - "$dashboard" >"$work/panels.yml" <<'EOF'
import json, sys
print("groups: [{name: panels, rules: [")
for panel in json.load(open(sys.argv[1]))["panels"]:
    for target in panel["targets"]:
        expr = target["expr"].replace("$__rate_interval", "1m")
        for variable in "$host", "$recording", "$job_id":
            expr = expr.replace(variable, ".*")
        print(f"  {{record: 'panel{panel['id']}{target['refId']}', expr: {json.dumps(expr)}}},")
print("]}]")
EOF

grep -ohE '"# HELP ccltap_[a-z_]+|[{ ]"ccltap_[a-z_]+|^[[:space:]]+"ccltap_[a-z_]+' \
    "$top_srcdir/src/tools/metrics_text.c" "$top_srcdir/src/tools/metrics_devices.c" \
    "$top_srcdir/src/tools/metrics_ports.c" |
    grep -oE 'ccltap_[a-z_]+' | sort -u >"$work/had"
check "ccltap has metrics" test "$(wc -l <"$work/had")" -gt 10
for asked in panels ccltap.rules; do
    same "$asked asks for metrics that ccltap has" "" \
        "$(sed 's/#.*//' "$work/$asked.yml" | grep -oE 'ccltap_[a-z_]+' | sort -u |
            sed -E 's/_seconds_(bucket|sum|count)$/_seconds/' | sort -u | comm -23 - "$work/had")"
done
same "each panel has a title and a unit" "" "$(/usr/bin/python3 - "$dashboard" <<'EOF'
import json, sys
for panel in json.load(open(sys.argv[1]))["panels"]:
    if not panel["title"] or not panel["fieldConfig"]["defaults"]["unit"]:
        print(panel["id"])
EOF
)"

if ! command -v promtool >/dev/null; then
    skip "no promtool: Debian's package prometheus has it" "the rules"
    tap_done
    exit
fi
status=0
promtool check rules "$work/ccltap.rules.yml" "$work/panels.yml" >"$work/said" 2>&1 || status=$?
[ "$status" = 0 ] || sed 's/^/# /' "$work/said"
ok "$status" "promtool reads the rules and the panels"
status=0
(cd "$work" && promtool test rules rules_test.yml) >"$work/said" 2>&1 || status=$?
[ "$status" = 0 ] || sed 's/^/# /' "$work/said"
ok "$status" "each alert is there when it should be, and only then"

tap_done
