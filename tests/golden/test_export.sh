#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of `ccltap export` as CSV and JSON lines: their columns, their rows beside the JSON
# lines of the same trace, and what the command refuses. GOLDEN_UPDATE=1 writes the .tables anew:
# a column that goes away or changes is a broken promise.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

traces=$top_srcdir/tests/golden/traces
convert=${top_builddir:?}/tests/golden/convert
CCLTAP_LIBDIR=$top_builddir/.libs
export CCLTAP_LIBDIR
work=export.$$
mkdir "$work"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

ccltap() {
	"$top_builddir/ccltap" "$@"
}

export_events() { # EVENTS FOLDER [PARAMETER=VALUE]...
	mkdir -p "$2"
	events=$1 folder=$2
	shift 2
	"$convert" events "$events" export folder="$folder" "$@"
}

make_trace() { # CASE FOLDER
	"$convert" events "$traces/$1.events" ctf path="$2" assume-single-trace=yes quiet=yes
}

# Exit status 2, or 1 where it shows late, and one line that has these words.
refuses() { # WORDS COMMAND...
	words=$1
	shift
	got=0
	"$@" >"$work/out" 2>"$work/error" || got=$?
	sed 's/^/# /' "$work/error"
	[ "$got" -ge 1 ] && [ "$got" -le 2 ] && [ "$(wc -l <"$work/error")" -eq 1 ] &&
		grep -q "$words" "$work/error"
}

golden() { # NAME FILE
	[ -z "${GOLDEN_UPDATE-}" ] || cp "$2" "$traces/$1.tables"
	diff -u "$traces/$1.tables" "$2"
}

# ---- What is in the tables ----

for case in comm gpu net-sockets samples why-missing wire-hosts; do
	export_events "$traces/$case.events" "$work/$case" || true
	(cd "$work/$case" && find . -name part-0.csv | sort | while read -r path; do
		[ "$(wc -l <"$path")" -gt 1 ] || continue
		echo "==> ${path#./}"
		cat "$path"
	done) >"$work/tables"
	check "the tables of $case are as expected" golden "$case" "$work/tables"
done
# One host of two: each message has one end there, and the key of the other.
for case in wire-rc wire-uc net-sockets; do
	awk -v both=/dev/null -v alpha="$work/alpha.events" -v beta="$work/beta.events" \
		-f "$top_srcdir/tests/golden/spread.awk" "$traces/$case.events"
	for host in alpha beta; do
		export_events "$work/$host.events" "$work/half-$case-$host"
		echo "==> $case host=$host"
		awk -F, 'NR == 1 || $7 == "true"' "$work/half-$case-$host/link/host=$host/part-0.csv"
	done
done >"$work/tables"
check "what has one end on a host is told with its key" golden halves "$work/tables"
check "the columns are as expected" golden columns "$work/comm/columns.csv"

status=0
for table in $(cut -d, -f1 "$work/comm/columns.csv" | sed 1d | uniq); do
	# Each begins as ccltap-export(1) says, and each column is described there.
	sed -n "/^\.SS $table\$/,/^\.S[HS]/p" "$top_srcdir/doc/man/ccltap-export.1" >"$work/page"
	sed -n "s/^$table,\(.*\),.*/\1/p" "$work/comm/columns.csv" >"$work/names"
	while read -r column; do
		grep -qwF "$column" "$work/page" && continue
		echo "# ccltap-export(1) lacks $table.$column"
		status=1
	done <"$work/names"
done
ok $status "the manual page has every column"

# ---- Beside the JSON lines ----

set --
for events in "$traces"/*.events; do
	name=$(basename "$events" .events)
	# shellcheck disable=SC2046 # several words
	export_events "$events" "$work/all/$name" $(sed -n 's/^# params: //p' "$events" |
		tr ' ' '\n' | grep -v '^window=') >/dev/null 2>&1 || true
	# shellcheck disable=SC2046 # several words
	"$convert" events "$events" timeline format=jsonl output="$work/all/$name.jsonl" \
		$(sed -n 's/^# params: //p' "$events") >/dev/null 2>&1 || true
	# A trace whose reading fails has neither.
	[ -e "$work/all/$name/columns.csv" ] || continue
	set -- "$@" "$work/all/$name.jsonl" "$work/all/$name"
done
check "each row is a JSON line, and each JSON line a row" \
	python3 "$top_srcdir/tests/golden/tables.py" "$@"
python3 "$top_srcdir/tests/golden/tables.py" "$@" | tail -n 1 | sed 's/^/# /'

# What is compared is found to differ.
sed -i '2s/[0-9],/9&/' "$work/all/comm/call/host=alpha/part-0.csv"
status=0
python3 "$top_srcdir/tests/golden/tables.py" "$work/all/comm.jsonl" "$work/all/comm" >/dev/null &&
	status=1
ok $status "a row that differs is found"

export_events "$traces/gpu.events" "$work/json" format=jsonl
"$convert" events "$traces/gpu.events" timeline format=jsonl output="$work/gpu.jsonl"
check "tables of JSON lines have the same rows" \
	python3 "$top_srcdir/tests/golden/tables.py" "$work/gpu.jsonl" "$work/json"

# ---- The command ----

make_trace comm "$work/trace"
status=0
ccltap export --format csv -o "$work/new/below/tables" "$work/trace" || status=1
for table in operation call; do
	cmp "$work/comm/$table/host=alpha/part-0.csv" \
		"$work/new/below/tables/$table/host=alpha/part-0.csv" || status=1
done
[ -z "$(find "$work/new/below/tables" -name '.*')" ] || status=1
ok $status "export makes the folders above its own, and leaves nothing else"

status=0
refuses 'has tables of a host of this trace already' \
	ccltap export --format csv -o "$work/new/below/tables" "$work/trace" || status=1
[ -z "$(find "$work/new/below/tables" -name '.*')" ] || status=1
ok $status "tables that exist are not replaced"

status=0
ccltap export --format jsonl --overwrite -o "$work/new/below/tables" "$work/trace" || status=1
[ "$(echo "$work/new/below/tables/call/host=alpha"/*)" = \
	"$work/new/below/tables/call/host=alpha/part-0.jsonl" ] || status=1
ok $status "--overwrite replaces them"

mkdir "$work/other"
: >"$work/other/file"
status=0
refuses 'has other things than tables' ccltap export --format csv -o "$work/other" "$work/trace" ||
	status=1
refuses 'name a folder with -o' ccltap export --format csv "$work/trace" || status=1
refuses 'choose parquet, csv or jsonl' ccltap export --format xml -o "$work/x" "$work/trace" ||
	status=1
refuses 'it is not a folder' ccltap export --format csv -o "$work/other/file" "$work/trace" ||
	status=1
refuses 'no trace in' ccltap export --format csv -o "$work/x" "$work/other" || status=1
refuses 'pip install duckdb-cli.*--format csv' \
	env CCLTAP_DUCKDB= PATH=/nowhere "$top_builddir/ccltap" export -o "$work/x" "$work/trace" ||
	status=1
refuses 'CCLTAP_DUCKDB names .*--format csv' \
	env CCLTAP_DUCKDB=/nowhere "$top_builddir/ccltap" export -o "$work/x" "$work/trace" || status=1
[ ! -e "$work/x" ] || status=1
ok $status "what cannot be written is refused, and leaves nothing"

# A stream that is cut short is read without its end, by a second child.
cp -r "$work/trace" "$work/short"
stream=$(find "$work/short" -name '*hot*' -type f | head -n 1)
[ -n "$stream" ] || stream=$(find "$work/short" -type f ! -name metadata | head -n 1)
truncate -s 100 "$stream"
status=0
ccltap export --format csv -o "$work/shortened" "$work/short" 2>"$work/error" || status=1
sed 's/^/# /' "$work/error"
grep -q '^damaged_streams,,[1-9]' "$work/shortened"/loss/host=*/part-0.csv || status=1
ok $status "a damaged trace is exported as far as it can be read"

# ---- Each host by itself ----

# Two hosts, in two folders, the one of which sorts after the other by one name and before it by the
# other.
awk -v both=/dev/null -v alpha="$work/alpha.events" -v beta="$work/beta.events" \
	-f "$top_srcdir/tests/golden/spread.awk" "$traces/wire-rc.events"
mkdir "$work/several"
"$convert" events "$work/alpha.events" ctf path="$work/several/z" assume-single-trace=yes quiet=yes
"$convert" events "$work/beta.events" ctf path="$work/several/a" assume-single-trace=yes quiet=yes
status=0
for jobs in 1 2 4; do
	ccltap export --format csv --jobs "$jobs" -o "$work/jobs-$jobs" "$work/several" || status=1
	diff -r "$work/jobs-1" "$work/jobs-$jobs" || status=1
done
ccltap export --format csv -j 2 -o "$work/jobs-turned" "$work/several/z" "$work/several/a" || status=1
diff -r "$work/jobs-1" "$work/jobs-turned" || status=1
ok $status "the tables are the same for 1, 2 and 4 processes, and in any order of hosts"
status=0
for host in alpha beta; do
	ccltap export --format csv -o "$work/alone" "$work/several/$([ $host = alpha ] && echo z || echo a)" ||
		status=1
	cmp "$work/half-wire-rc-$host/link/host=$host/part-0.csv" \
		"$work/jobs-1/link/host=$host/part-0.csv" || status=1
done
diff -r "$work/alone" "$work/jobs-1" || status=1
[ -z "$(find "$work/jobs-1" -name '.*' -o -name '[0-9]*')" ] || status=1
ok $status "and those that each host would have exported"

status=0
refuses 'has tables of a host of this trace already' \
	ccltap export --format csv --jobs 2 -o "$work/jobs-1" "$work/several" || status=1
for number in 0 -1 x 1x 99999; do
	refuses 'needs a number of processes' \
		ccltap export --format csv --jobs=$number -o "$work/x" "$work/several" || status=1
done
[ ! -e "$work/x" ] || status=1
ok $status "what --jobs cannot do is refused"

# One host is damaged: the others are exported, and somebody says so.
cp -r "$work/several" "$work/half"
echo nonsense >"$work/half/a/metadata"
status=0
ccltap export --format csv --jobs 2 -o "$work/jobs-half" "$work/half" 2>"$work/error" || status=1
sed 's/^/# /' "$work/error"
grep -q 'cannot read the trace .*/a: its metadata is damaged' "$work/error" || status=1
[ "$(cd "$work/jobs-half/process" && echo *)" = host=alpha ] || status=1
diff -r "$work/jobs-half/call" "$work/jobs-1/call" | grep -v 'Only in .*jobs-1/call: host=beta' &&
	status=1
cp "$work/half/a/metadata" "$work/half/z/metadata"
got=0
ccltap export --format csv --jobs 2 -o "$work/x" "$work/half" 2>"$work/error" || got=$?
[ $got -eq 2 ] && [ "$(grep -c 'metadata is damaged' "$work/error")" -eq 2 ] && [ ! -e "$work/x" ] ||
	status=1
ok $status "a host that cannot be read is left out; if none can, nothing is written"

# The process of a host is killed while it converts: DuckDB's parent is that process.
# shellcheck disable=SC2016 # for that shell
printf '#!/bin/sh\nkill -KILL $PPID; sleep 10\n' >"$work/duckdb"
chmod +x "$work/duckdb"
status=0
CCLTAP_DUCKDB=$work/duckdb refuses 'cannot go on: the process for alpha was killed' \
	ccltap export --jobs 1 -o "$work/x" "$work/several" || status=1
CCLTAP_DUCKDB=$work/duckdb refuses 'the process for [a-z]* was killed' \
	ccltap export --jobs 4 -o "$work/x" "$work/several" || status=1
# It fails, and says which host that was.
printf '#!/bin/sh\necho "no room" >&2\nexit 1\n' >"$work/duckdb"
CCLTAP_DUCKDB=$work/duckdb refuses 'ccltap: alpha: duckdb failed: no room' \
	ccltap export --jobs 1 -o "$work/x" "$work/several" || status=1
# It ends because of a signal to the command, whose processes do so, too.
# shellcheck disable=SC2016 # for that shell
printf '#!/bin/sh\nkill -TERM $(ps -o ppid= -p $PPID); exec sleep 10\n' >"$work/duckdb"
got=0
env --default-signal=TERM CCLTAP_DUCKDB="$work/duckdb" "$top_builddir/ccltap" export --jobs 2 \
	-o "$work/x" "$work/several" 2>"$work/error" || got=$?
sed 's/^/# /' "$work/error"
[ $got -eq 143 ] || status=1
[ ! -e "$work/x" ] || status=1
ok $status "when one of the processes dies, fails or is ended, nothing of the export is left"

# A host whose name is no name of a file.
sed 's/alpha/a%2F\/b/' "$traces/simple.events" >"$work/odd.events"
export_events "$work/odd.events" "$work/odd"
check "a name of a host is encoded" test -e "$work/odd/call/host=a%252F%2Fb/part-0.csv"

tap_done
