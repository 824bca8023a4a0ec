#!/bin/sh
# SPDX-License-Identifier: MIT
# Made-up ranks of which all is known (attribution.py): no message is ascribed to a kernel that
# it did not serve, or given a wrong place in it, whatever is missing; where little is, most are
# ascribed, and where number and sizes are as NCCL's, nearly all, most of them as decoded.  Where
# kernels that are alike have different numbers, which no NCCL does, a few may be inferred
# wrongly.  How many is printed.
#
# ATTRIBUTION_SEEDS='1 2 3' makes so many of each.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

make=$top_srcdir/tests/golden/attribution.py
convert=${top_builddir:?}/tests/golden/convert
work=attribution.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT

# made SEED SETTING...: makes the events, and reads them.
made() {
	python3 "$make" make "$@" >"$work/events" 2>"$work/truth" &&
		"$convert" events "$work/events" timeline format=jsonl output="$work/jsonl" \
			overwrite=yes
}

# LEAST DECODED WRONG SETTING...: at least so many percent are ascribed, and as decoded; of what
# is inferred, at most so many in 1000 are wrong.
while read -r least decoded wrong settings; do
	status=0
	for seed in ${ATTRIBUTION_SEEDS-1}; do
		# shellcheck disable=SC2086 # several words
		made $seed $settings >"$work/out" 2>&1 &&
			python3 "$make" judge "$work/truth" "$work/jsonl" "$least" "$decoded" \
				"$wrong" >>"$work/out" ||
			status=1
		sed 's/^/# /' "$work/out"
	done
	ok $status "ascribed as demanded: ${settings:-all is known}"
done <<'END'
70 0 2
70 0 2 ranks=2
80 0 4 ranks=4 channels=4 ops=150
70 0 2 undecoded
70 0 2 comms=2
50 0 2 comms=2 unthreaded
40 0 2 comms=2 split
20 0 2 comms=2 unthreaded undecoded
50 0 2 late
50 0 2 late undecoded
10 0 2 late comms=2
70 0 2 lost=10
50 0 2 gone=10
70 0 2 skew
20 0 2 skew gone=4
0 0 0 late lost=5 gone=5 skew undecoded comms=2
99 60 0 rule ops=100
99 60 0 rule ops=100 close
99 60 0 rule ops=100 ranks=2 close
99 60 0 rule ops=100 ranks=4 channels=4 close
99 75 0 rule ops=100 comms=2 own close
99 0 0 rule ops=100 undecoded close
98 0 0 rule ops=100 blind close
60 0 0 rule ops=100 blind close made
80 40 0 rule ops=100 close made
99 75 0 rule sends ops=100 close
99 75 0 rule sends ops=100 ranks=4 channels=4
95 75 0 rule sends ops=100 close made
99 75 0 rule sends ops=100 buffer=65536 close
99 75 0 rule sends ops=100 buffer=1048576 ranks=4 channels=4
99 0 0 rule sends ops=100 buffer=65536 undecoded close
50 0 0 rule sends ops=100 buffer=65536 unset close
60 0 0 rule sends comms=2 split buffer=65536 reset=1048576 close
94 0 0 rule later ops=15 close
97 0 0 rule later ops=8 ranks=2 close
30 0 15 rule later ops=100 odd=9 close
99 0 0 rule older=21803 ops=100 close
98 0 0 rule older=21803 ops=10 ranks=4 channels=4 close
98 0 0 rule older=21803 blind ops=10 ranks=4 channels=4 close
30 0 15 rule older=21803 ops=100 odd=9 close
99 0 0 rule older=22105 ops=100 close
96 0 0 rule older=22105 ops=10 ranks=4 channels=4 close
99 40 0 rule sends comms=2 split close
95 0 0 rule sends ops=100 blind close made
60 0 0 rule sends ops=30 comms=2 split blind close
90 0 0 idle=2 empty=2 ops=100 close
99 60 0 rule comms=2 close
60 0 0 rule ops=200 late close
98 20 0 rule ops=100 lost=10 close
75 50 0 rule ops=100 gone=10 close
99 60 0 rule ops=100 skew close
30 2 15 rule ops=100 odd=9 close
70 0 2 graphs=6
60 0 4 graphs=3 ranks=4 channels=4
50 0 2 graphs=6 comms=2 unthreaded
99 20 0 rule ops=60 graphs=6
99 20 0 rule ops=60 graphs=6 close
99 0 0 rule ops=60 graphs=6 undecoded close
60 2 0 rule ops=60 graphs=6 lost=10 gone=10 close
80 0 2 fused=2
98 10 0 rule ops=60 fused=2 close
99 2 0 rule ops=60 fused=2 graphs=6 close
30 0 0 blind idle=40 ops=300
98 0 0 sums blind close ops=200
98 0 0 sums blind close ops=200 ranks=4 channels=4
98 0 0 sums blind skew close ops=200 comms=2
78 0 0 sums blind gone=20 ops=200
80 0 0 sums partial blind close ops=200 ranks=4 channels=4
70 0 2 pxn=2 ranks=4
60 0 0 pxn=3 ranks=3 ops=20 undecoded
75 0 0 pxn=4 ranks=8 ops=10 undecoded
100 0 0 pxn=4 ranks=8 ops=1 undecoded callers
100 0 0 pxn=4 ranks=8 ops=1 undecoded callers busy
75 0 0 pxn=3 ranks=6 ops=20 undecoded callers busy
87 0 0 pxn=4 ranks=4 ops=2 undecoded callers
87 0 0 pxn=4 ranks=4 ops=2 undecoded callers spare
99 60 0 rule sends ops=100 pxn=2 ranks=4 close
95 0 0 rule sends ops=100 pxn=3 ranks=6 undecoded close
0 0 0 graphs=6 nodeless
0 0 0 graphs=6 late
0 0 0 uncupti
END

status=0
"$convert" events "$work/events" check output="$work/check" overwrite=yes
grep -q '^message-kernel  *0  *0  *0  .*not-recorded' "$work/check" || status=1
ok $status "without CUPTI, check says that no kernel was recorded"

# With NCCL_CHUNK_SIZE no size is known, so nothing is as decoded.
status=0
made 1 rule ops=20 close chunk=65536
python3 "$make" judge "$work/truth" "$work/jsonl" 60 >"$work/out" || status=1
if python3 "$make" judge "$work/truth" "$work/jsonl" 60 1 >"$work/out"; then
	status=1
fi
ok $status "no size is known where another variable changes it"

# A judge who finds all right finds nothing wrong with wrong links, either.
status=0
made 1
sed -i 's/"calls": \[\[\([0-9]*\)/"calls": [[1\1/g' "$work/truth"
if python3 "$make" judge "$work/truth" "$work/jsonl" 0 >"$work/out"; then
	status=1
fi
ok $status "the judge finds a link to another kernel"
tap_done
