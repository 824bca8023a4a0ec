# SPDX-License-Identifier: MIT
# Pages and traces that the tests of ccltap report --html share: source it after lib/tap.sh, with
# $work made.
# shellcheck shell=sh

traces=${top_srcdir:?}/tests/golden/traces
convert=${top_builddir:?}/tests/golden/convert
CCLTAP_LIBDIR=$top_builddir/.libs
CCLTAP_PAGEDIR=$top_srcdir/share/ccltap/page
export CCLTAP_LIBDIR CCLTAP_PAGEDIR

page() # EVENTS PAGE [PARAMETER=VALUE]...
{
	page_events=$1 page_output=$2
	shift 2
	"$convert" events "$page_events" audit json=yes brief=yes >"$page_output.audit" &&
		"$convert" events "$page_events" report page="$CCLTAP_PAGEDIR" title="$page_output" \
			audit="$page_output.audit" output="$page_output" "$@"
}

# Names that would be markup, were they not kept apart.
hostile_mark='</script><script>alert(1)</script><!--'
hostile_image='<img/src=x/onerror=alert(2)>'

# hostile_comm: the case comm with a host, a command, a communicator and a call of such names.
hostile_comm()
{
	sed "s|host=\"alpha\"|host=\"$hostile_mark.host\"|; s|^trace host=.*|trace host=$hostile_mark.host|
		s|command=\"app\"|command=\"$hostile_mark.command\"|
		s|config_commName=\"world\"|config_commName=\"$hostile_image.comm\"|
		s|nccl:ncclBcast_|nccl:$hostile_image.call_|; s|nccl:ncclBroadcast_|nccl:$hostile_image.call_|" \
		"$traces/comm.events"
}

# many_calls: 11,000 all-reduces of two ranks; one is late once, one call is long, one fails, and the
# last hang.
many_calls()
{
	awk 'function entry(t, pid, id, op) {
		print t, "hot" pid, pid, pid, "nccl:ncclAllReduce_entry call_id=" id, "parent_id=0 count=1024", \
			"datatype=7:ncclFloat32 comm=0x" pid "0 comm_id=1 comm_key=0xabcdef0123456789", \
			"op_number=" op, "group_id=0 not_counted=0"
	}
	function leave(t, pid, id, result) {
		print t, "hot" pid, pid, pid, "nccl:ncclAllReduce_exit call_id=" id " result=" result
	}
	BEGIN {
		print "trace host=alpha"
		for (rank = 0; rank < 2; rank++) {
			pid = 10 + 10 * rank
			print "10 setup", pid, pid, "tap:process pid=+" pid, "host=\"alpha\" rank=+" rank, \
				"world_size=+2 command=\"app\""
			print "20 setup", pid, pid, "tap:comm comm_id=1 comm=0x" pid "0", \
				"comm_key=0xabcdef0123456789 alias_key=0x0 origin=1:init parent_comm_id=0", \
				"ordinal=1 phase=1:ready async_error=0:ncclSuccess nranks=+2 rank=+" rank, \
				"device=+" rank " collectives=0"
		}
		for (op = 1; op <= 11000; op++) {
			t = op * 100000
			entry(t, 10, op, op)
			entry(t + (op == 777 ? 66000 : 10), 20, op, op)
			if (op == 11000)
				break
			leave(t + (op == 888 ? 77000 : 20 + op % 7), 10, op, \
				op == 999 ? "3:ncclInternalError" : "0:ncclSuccess")
			leave(t + (op == 777 ? 66020 : 40), 20, op, "0:ncclSuccess")
		}
	}' | sort -k1,1n -s
}

# slowed_calls NS: forty all-reduces of four ranks, of which rank 2 comes so much later each time.
slowed_calls()
{
	awk -v late="$1" 'BEGIN {
		print "trace host=alpha"
		for (rank = 0; rank < 4; rank++) {
			pid = 10 + 10 * rank
			print 10 + rank, "setup", pid, pid, "tap:process pid=+" pid, "host=\"alpha\" rank=+" rank, \
				"world_size=+4 command=\"app\""
			print 20 + rank, "setup", pid, pid, "tap:comm comm_id=1 comm=0x" pid "0", \
				"comm_key=0xabcdef0123456789 alias_key=0x0 origin=1:init parent_comm_id=0", \
				"ordinal=1 phase=1:ready async_error=0:ncclSuccess nranks=+4 rank=+" rank, \
				"device=+" rank " collectives=0"
		}
		for (op = 1; op <= 40; op++)
			for (rank = 0; rank < 4; rank++) {
				pid = 10 + 10 * rank
				begin = op * 40000000 + rank * 1000 + op % 7 * 100
				print begin + (rank == 2 ? late : 0), "hot" pid, pid, pid, \
					"nccl:ncclAllReduce_entry call_id=" op, "parent_id=0 count=65536", \
					"datatype=7:ncclFloat32 comm=0x" pid "0 comm_id=1 comm_key=0xabcdef0123456789", \
					"op_number=" op, "group_id=0 not_counted=0"
				print op * 40000000 + late + 100000 + op % 5 * 100, "hot" pid, pid, pid, \
					"nccl:ncclAllReduce_exit call_id=" op " result=0:ncclSuccess"
			}
	}' | sort -k1,1n -s
}
