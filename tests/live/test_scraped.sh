#!/bin/sh
# SPDX-License-Identifier: MIT
# Debian's Prometheus and node_exporter scrape what record --metrics counts, by HTTP and from the
# textfile collector: rates, sums and the late rank are what the program wrote down itself, to
# within 1 %, and the alerts for a hang fire; with another job's file of the same ranks in the folder.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

for needed in prometheus promtool prometheus-node-exporter; do
    command -v "$needed" >/dev/null || {
        echo "1..0 # SKIP needs $needed: Debian's packages prometheus and prometheus-node-exporter"
        exit 0
    }
done
[ "${TAP_APART-}" = yes ] || {
    echo "1..0 # SKIP needs root, for a network of its own: its ports may be in use here"
    exit 0
}

NCCL_IB_DISABLE=1
export NCCL_IB_DISABLE
here=$(cd "$work" && pwd)
more=25 ms=10 # the calls that one rank makes alone, and the pace
mkdir "$work/text"
pids=
finish()
{
    # shellcheck disable=SC2086 # numbers
    [ -z "$pids" ] || kill -9 $pids 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap finish EXIT

"$ccltap" record --layers none --metrics="$work/text/job.prom" --metrics-listen 9000 -- sh -c "
    RANK=0 '$programs/paced' '$work' $more $ms &
    RANK=1 '$programs/paced' '$work' $more $ms &
    wait" 2>"$work/err" &
recorder=$!
if ! within 60 test -s "$work/log.1"; then
    wait "$recorder" || true
    grep -q 'built without libmicrohttpd' "$work/err" && echo "1..0 # SKIP it is built without libmicrohttpd" ||
        echo "Bail out! the program does not start"
    exit 0
fi
pids="$(cat "$work/pid.0") $(cat "$work/pid.1")"

mkdir "$work/other"
RANK=0 SLURM_JOB_ID=12 "$ccltap" record --layers none --metrics="$work/text/other.prom" -- \
    "$programs/counts" "$work/other" 2>"$work/err.other" &
check "another job is counted into the same folder" within 60 test -s "$work/other/at"
pids="$pids $(cat "$work/other/at")"

# The rules, as for a scrape each second and for who cannot wait for a minute.
sed -e 's/seconds) > 60/seconds) > 2/; s/\[2m\]/[5s]/; s/for: 30s/for: 1s/' \
    "$top_srcdir/share/ccltap/prometheus/ccltap.rules.yml" >"$work/rules.yml"
cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs:
  - {job_name: http, static_configs: [{targets: ["127.0.0.1:9000"]}]}
  - {job_name: text, static_configs: [{targets: ["127.0.0.1:9100"]}]}
END
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$here/tsdb" \
    --web.listen-address=127.0.0.1:9090 --log.level=warn >"$work/prometheus.log" 2>&1 &
pids="$pids $!"
prometheus-node-exporter --collector.disable-defaults --collector.textfile \
    --collector.textfile.directory="$here/text" --web.listen-address=127.0.0.1:9100 \
    >"$work/exporter.log" 2>&1 &
pids="$pids $!"

status=0
/usr/bin/python3 -B "$top_srcdir/tests/live/expect/scraped.py" "$work" "$more" "$ms" >"$work/tap" ||
    status=$?
passed_on "$work/tap"
ok $status "scraped.py comes to its end"
[ $status = 0 ] || {
    tail -n 20 "$work/prometheus.log" "$work/exporter.log" | sed 's/^/# /'
    tap_done
    exit 1
}
for text in http text; do
    same "promtool has nothing to say of $text" "" \
        "$(grep -v '^# .*node_\|^node_\|^# .*\(go\|process\|promhttp\)_\|^\(go\|process\|promhttp\)_' "$work/$text.got" |
            promtool check metrics 2>&1 || echo failed)"
done
tap_done
