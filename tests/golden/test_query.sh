#!/bin/sh
# SPDX-License-Identifier: MIT
# `ccltap export` to Parquet and `ccltap query`: the questions, on traces of which the answer is
# known; and the links between hosts that were exported one by one, beside those of both together.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

: "${CCLTAP_DUCKDB:=$(command -v duckdb || true)}"
if [ -z "$CCLTAP_DUCKDB" ]; then
	echo "1..0 # SKIP no program duckdb: scripts/fetch-duckdb gets it, CCLTAP_DUCKDB names it"
	exit 0
fi
traces=$top_srcdir/tests/golden/traces
convert=${top_builddir:?}/tests/golden/convert
CCLTAP_LIBDIR=$top_builddir/.libs
CCLTAP_SQLDIR=$top_srcdir/share/ccltap/sql
export CCLTAP_LIBDIR CCLTAP_SQLDIR CCLTAP_DUCKDB
work=query.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT

ccltap() {
	"$top_builddir/ccltap" "$@"
}

tables() { # EVENTS FOLDER: as CSV
	[ -d "$2" ] || { mkdir -p "$2" && "$convert" events "$1" export folder="$2"; }
}

# The rows of a question about a case, columns with commas between.
asked() { # CASE COLUMNS QUESTION
	tables "$traces/$1.events" "$work/$1"
	ccltap query --format csv "$3" "$work/$1" >"$work/answer"
	python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    print(",".join(row[name] for name in sys.argv[2].split(",")))' "$work/answer" "$2"
}

# ---- Formats ----

"$convert" events "$traces/gpu.events" ctf path="$work/trace" assume-single-trace=yes quiet=yes
status=0
ccltap export -o "$work/parquet" "$work/trace" || status=1
ccltap export --format csv -o "$work/csv" "$work/trace" || status=1
ccltap export --format jsonl -o "$work/jsonl" "$work/trace" || status=1
[ -z "$(find "$work/parquet" -type f ! -name '*.parquet' ! -name columns.csv)" ] || status=1
for table in $(cut -d, -f1 "$work/csv/columns.csv" | sed 1d | uniq); do
	for format in csv parquet jsonl; do
		ccltap query --format csv --sql "SELECT * FROM \"$table\" ORDER BY ALL" \
			"$work/$format" >"$work/$table.$format" || status=1
	done
	cmp "$work/$table.csv" "$work/$table.parquet" || status=1
	cmp "$work/$table.csv" "$work/$table.jsonl" || status=1
done
[ "$(wc -l <"$work/kernel.parquet")" -gt 5 ] || status=1
ok $status "Parquet, CSV and JSON lines have the same rows"

same "Parquet has the types of columns.csv, and host" \
	"$(grep '^kernel,' "$work/csv/columns.csv" | cut -d, -f2,3; echo host,VARCHAR)" \
	"$("$CCLTAP_DUCKDB" -csv -noheader -c "SELECT column_name, column_type FROM (DESCRIBE FROM
		'$work/parquet/kernel/*/*.parquet')" </dev/null)"
same "and is compressed by zstd" ZSTD \
	"$("$CCLTAP_DUCKDB" -csv -noheader -c "SELECT DISTINCT compression
		FROM parquet_metadata('$work/parquet/*/*/*.parquet')
		WHERE num_values > 0" </dev/null)"

same "a table for people" \
	'| alpha | 9 |' "$(ccltap query --sql 'SELECT host, count(*) AS n FROM kernel GROUP BY host' \
		"$work/parquet" | grep alpha | tr -s ' ')"
same "JSON" '[{"host":"alpha","n":9}]' "$(ccltap query --format json \
	--sql 'SELECT host, count(*) AS n FROM kernel GROUP BY host' "$work/parquet")"
same "the current folder, and folders together" '9 18' "$(
	sql='SELECT count(*) AS n FROM kernel'
	command=$(cd "$top_builddir" && pwd)/ccltap
	here=$(cd "$work/parquet" && "$command" query --format csv --sql "$sql" | tail -n 1)
	echo "$here $(ccltap query --format csv --sql "$sql" "$work/parquet" "$work/csv" | tail -n 1)"
)"

# What a user has set for the program changes nothing.
mkdir "$work/home"
echo '.mode line' >"$work/home/.duckdbrc"
same "a user's .duckdbrc is not read" n,9 "$(HOME=$work/home ccltap query --format csv \
	--sql 'SELECT count(*) AS n FROM kernel' "$work/csv" | paste -sd,)"

# ---- The questions ----

same "last-ranks names the late rank" "2,10,11" \
	"$(asked why-late rank,times_last,operations last-ranks | head -n 1)"
same "skew has how far it is late" "ncclAllReduce,4,11,200060000,200140000" \
	"$(asked why-late name,ranks,operations,apart_median_ns,apart_max_ns skew)"
same "missing names the rank that did not come" "3,ncclAllReduce,4,3,1,2,has-not-come" \
	"$(asked why-missing op_number,name,nranks,ranks_here,rank,latest_op_number,state missing |
		head -n 1)"
same "and does not blame it where events are lost" "3,2,not-known" \
	"$(asked why-lost op_number,rank,state missing)"
sed '/hot.* 20 20 .* call_id=2 /d' "$traces/comm-bound.events" >"$work/hole.events"
tables "$work/hole.events" "$work/hole"
same "nor where it came to the next one" "2,1,not-recorded" \
	"$(ccltap query --format csv missing "$work/hole" | grep ',not-rec' | cut -d, -f2,6,10)"
same "nor where no table has it" "1,,not-here" "$(asked comm-absent op_number,rank,state missing)"
same "complete counts ranks that no table has" "ranks-not-here,2,3" \
	"$(asked comm-absent what,ranks_here,ranks complete | sort -u)"
same "and those of a launcher" "ranks-not-here,job,2,3" \
	"$(asked complete-launched what,subject,ranks_here,ranks complete)"
same "and tells jobs apart" "several-jobs,beta, gamma" \
	"$(asked complete-mixed what,subject complete | grep several)"
same "and has nothing of what is whole" "" "$(asked complete-whole what complete)"
same "mismatch has both sizes" "2,size,4096,2,0 2,size,4000,1,1" \
	"$(asked why-size op_number,mismatch,bytes,ranks,lowest_rank mismatch | paste -sd' ')"
same "and both functions" "2,function,ncclAllReduce 2,function,ncclBroadcast" \
	"$(asked why-function op_number,mismatch,name mismatch | head -n 2 | paste -sd' ')"
same "and both ends of a message" "recv,0,1,size,32 send,0,1,size,256" \
	"$(asked why-pair-size op_kind,sender_rank,receiver_rank,mismatch,bytes mismatch |
		paste -sd' ')"
for kind in datatype:why-type redop:why-redop root:why-root; do
	same "and ${kind%:*}" "${kind%:*}" "$(asked "${kind#*:}" mismatch mismatch | sort -u)"
done
same "and nothing of a healthy job" "" "$(asked why-clear mismatch mismatch)"
same "nor is a rank missing from it" "" "$(asked why-clear rank missing)"
# Of 100 and 110 bytes, each from 13 ns before it had arrived.
same "slow-links has what each connection moved" "NET/Socket,0,1,0,decoded,2,210,13" \
	"$(asked net-sockets \
		transport,rank,peer_rank,channel,channel_known,messages,bytes,took_median_ns \
		slow-links | head -n 1)"
# 650 and 580 ns; launched 150 and 10 ns before.
same "phases has queue, kernel and what a rank waited for the other" \
	"ncclAllReduce,2,2,150,650,70" \
	"$(asked gpu name,calls,kernels,queue_max_ns,kernel_max_ns,waiting_max_ns phases)"
# 256 KiB in 1 ms, times 2 * 3 / 4.
same "busbw is that of nccl-tests" "ncclAllReduce,4,262144,11,1000000,262144000,393216000" \
	"$(asked why-late name,nranks,bytes,operations,took_median_ns,algorithm_bytes_per_second,bus_bytes_per_second busbw)"

# A call takes twice as long.
sed 's/^2100 \(.*_exit call_id=2 \)/2200 \1/; s/^2200 hot 20/2250 hot 20/' \
	"$traces/comm.events" >"$work/slower.events"
tables "$traces/comm.events" "$work/comm"
tables "$work/slower.events" "$work/slower"
same "diff has both runs" "ncclAllReduce,2,4096,2,2,75,150,2.0" \
	"$(ccltap query --format csv diff "$work/comm" "$work/slower" | grep AllReduce |
		cut -d, -f1-8)"

# ---- Links between hosts ----

spread() { # CASE: its processes on two hosts, together and alone
	mkdir -p "$work/spread/$1"
	awk -v both="$work/spread/$1/both.events" -v alpha="$work/spread/$1/alpha.events" \
		-v beta="$work/spread/$1/beta.events" -f "$top_srcdir/tests/golden/spread.awk" \
		"$traces/$1.events" || return 1
	for one in both alpha beta; do
		tables "$work/spread/$1/$one.events" "$work/spread/$1/$one"
	done
}

links() { # CASE COLUMNS: of both together, and of each alone
	ccltap query --format csv links "$work/spread/$1/both" | cut -d, -f"$2" | sort >"$work/both"
	ccltap query --format csv links "$work/spread/$1/alpha" "$work/spread/$1/beta" |
		cut -d, -f"$2" | sort >"$work/apart"
}

found=0
for case in comm comm-alias comm-group comm-late comm-mismatch why-missing why-pair ascribed gpu \
	net-sockets net-sockets-trees net-split tree wire-rc wire-generations wire-unsignaled \
	wire-unsignaled-lost wire-srq wire-srq-order wire-errors wire-concurrent wire-late wire-lost \
	wire-two-devices; do
	status=0
	spread "$case" || status=1
	links "$case" 1-
	diff "$work/both" "$work/apart" >"$work/diff" || status=1
	sed 's/^/# /' "$work/diff"
	found=$((found + $(wc -l <"$work/both") - 1))
	ok $status "links of two hosts that were exported alone are those of both together: $case"
done
echo "# $found links"

# What cannot be known is not claimed: of the rest, nothing but how it is known is another.
for case in comm-ambiguous net-sockets-inferred wire-uc wire-uc-whole wire-ud wire-ud-loss; do
	status=0
	spread "$case" || status=1
	links "$case" 1,3-
	[ -z "$(comm -13 "$work/both" "$work/apart" | sed 's/^/# /' | tee /dev/stderr)" ] || status=1
	ok $status "and nothing else: $case"
done
same "of a UC connection they are inferred" inferred \
	"$(ccltap query --format csv links "$work/spread/wire-uc-whole/alpha" \
		"$work/spread/wire-uc-whole/beta" | grep send-receive | cut -d, -f2 | sort -u)"

# A half that two have proves nothing.
same "the same host twice is no proof" "" "$(ccltap query --format csv links \
	"$work/spread/wire-rc/alpha" "$work/spread/wire-rc/beta" "$work/spread/wire-rc/alpha" |
	grep '^send-receive.*alpha.*beta' || true)"

# Two hosts that share a folder.
mkdir "$work/shared"
for host in alpha beta; do
	"$convert" events "$work/spread/comm/$host.events" ctf path="$work/$host.trace" \
		assume-single-trace=yes quiet=yes
	ccltap export -o "$work/shared" "$work/$host.trace"
done
ccltap query --format csv links "$work/shared" | sort >"$work/apart"
links comm 1-
status=0
ccltap query --format csv links "$work/shared" | sort | cmp - "$work/both" || status=1
ok $status "hosts may share a folder"

# ---- The command ----

same "--list has every question" \
	"$(cd "$CCLTAP_SQLDIR" && find . -name '*.sql' | sed 's/\.sql$//; s/^..//' | sort)" \
	"$(ccltap query --list | grep -E '^[a-z-]+  +[a-z].{20}' | cut -d' ' -f1)"

refuses() { # STATUS WORDS COMMAND...
	wanted=$1 words=$2
	shift 2
	got=0
	"$@" >"$work/out" 2>"$work/error" || got=$?
	sed 's/^/# /' "$work/error"
	[ "$got" -eq "$wanted" ] && grep -q "$words" "$work/error"
}

status=0
refuses 2 'did you mean "last-ranks"' ccltap query last-rank "$work/csv" || status=1
refuses 2 'no question "xyz"' ccltap query xyz "$work/csv" || status=1
refuses 2 'no question "../sql/skew"' ccltap query ../sql/skew "$work/csv" || status=1
refuses 2 'a question is missing' ccltap query || status=1
refuses 2 'no tables in .*: write them with' ccltap query skew "$work" || status=1
refuses 2 'about 2 folders' ccltap query diff "$work/csv" || status=1
refuses 2 'choose table, csv or json' ccltap query --format xml skew "$work/csv" || status=1
refuses 2 'no program "duckdb"' env CCLTAP_DUCKDB= PATH=/nowhere "$top_builddir/ccltap" \
	query skew "$work/csv" || status=1
refuses 1 'nonsense' ccltap query --sql 'SELECT nonsense FROM call' "$work/csv" || status=1
ok $status "wrong use is refused"

# Who has seen enough of an answer says so by closing the pipe: that is no failure to report.
ccltap query --format csv --sql 'SELECT * FROM range(1000000)' "$work/csv" 2>"$work/error" |
	head -n 1 >/dev/null
same "who leaves early gets no message" "" "$(cat "$work/error")"

# One that is interrupted leaves nothing, and ends by the signal, which a shell lets who runs in
# the background ignore.
# shellcheck disable=SC2016 # for that shell
printf '#!/bin/sh\nkill -INT $PPID; kill -INT $$\n' >"$work/bad"
chmod +x "$work/bad"
got=0
env --default-signal=INT CCLTAP_DUCKDB="$work/bad" "$top_builddir/ccltap" export \
	-o "$work/none" "$work/trace" 2>"$work/error" || got=$?
same "an export that is interrupted leaves nothing" "130 absent" \
	"$got $([ -e "$work/none" ] || echo absent)"

# DuckDB that fails leaves no tables.
printf '#!/bin/sh\necho "no room" >&2\nexit 1\n' >"$work/bad"
chmod +x "$work/bad"
status=0
refuses 1 'duckdb failed: no room' env CCLTAP_DUCKDB="$work/bad" "$top_builddir/ccltap" export \
	-o "$work/none" "$work/trace" || status=1
[ ! -e "$work/none" ] || status=1
ok $status "when DuckDB fails, nothing of the export is left"

tap_done
