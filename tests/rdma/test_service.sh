#!/bin/sh
# SPDX-License-Identifier: MIT
# Connections of NET/Socket, and of NET/IB over softverbs, that are made as NCCL makes them, by requests to a service thread:
# ccltap tells for which channel and peer each is, as the sizes of its messages say, and of other
# requests nothing; with CCLTAP_DECODE=0 it infers the messages, and tells no channel.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

export NCCL_SOCKET_IFNAME=lo
soft=${CCLTAP_SOFTVERBS:-$top_builddir/tests/doubles/verbs}
if [ -z "${CCLTAP_REAL_NCCL-}" ]; then
    skip "CCLTAP_REAL_NCCL names none: scripts/fetch-nccl gets one" "NCCL's NET/Socket"
    tap_done
    exit
fi

cat >"$work/both" <<END
#!/bin/sh
# both FOLDER LIBRARY [ib]: the two ranks, which meet in the folder.
set -eu
mkdir -p "\$1"
LD_LIBRARY_PATH=$soft\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
'$top_builddir/tests/rdma/service' 0 "\$@" &
'$top_builddir/tests/rdma/service' 1 "\$@"
wait \$!
END

# score JSONL: lines of what is wrong, and how many messages are right.
cat >"$work/score" <<'END'
import collections, json, sys
CHANNELS, MESSAGES = 6, 5
right = 0
seen = collections.Counter()
nets = collections.defaultdict(set)
processes = {}
spans = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")
         if '"layer":"net"' in line]
for span in spans:
    fields = span["fields"]
    channel = (fields["bytes"] // 1000, fields["bytes"] % 1000 // 10)
    said = (fields.get("channel"), fields.get("connection_index"), fields.get("channel_known"))
    if said != (channel[0], channel[0] % 2, "decoded"):
        print("message of channel", channel[0], "said:", said)
        continue
    processes.setdefault(span["process"], set()).add(fields.get("peer_rank"))
    seen[span["process"], span["name"], channel] += 1
    nets[span["process"], span["name"], channel[0]].add(fields["net_id"])
    right += 1
if any(count != 1 for count in seen.values()) or any(len(ids) != 1 for ids in nets.values()):
    print("not one message, or connection, for each:", seen, nets)
# Each process has one peer, and these are not the same.
peers = sorted(str(sorted(peers)) for peers in processes.values())
print(right, "of", 2 * 2 * CHANNELS * MESSAGES, "right, peers", *peers)
END

for library in $(echo "$CCLTAP_REAL_NCCL" | tr ':' ' '); do
    for network in '' ib; do
        name=$(basename "$(dirname "$library")").${network:-socket}
        # shellcheck disable=SC2086 # one word, or none
        run 0 "$name: recorded" "$ccltap" record -o "$work/$name" -- \
            sh "$work/both" "$work/meet.$name" "$library" $network
        "$ccltap" timeline --format jsonl "$work/$name" >"$work/jsonl"
        same "$name: each message's channel and peer" "120 of 120 right, peers [0] [1]" \
            "$(python3 "$work/score" "$work/jsonl" | tail -n 3)"
        babeltrace2 "$work/$name" >"$work/events"
        same "$name: of other requests no number is read" "0" \
            "$(grep net:service_request "$work/events" | grep -vE 'type = [13],' |
                grep -cv 'values = \[ \]' || true)"
        same "$name: nothing is not decoded" "0" "$(grep -c net:undecoded "$work/events" || true)"
        same "$name: no magic number is in the trace" "0" \
            "$(grep -ciE '1234567890abcdef|1311768467294899695' "$work/events" || true)"
    done
done

CCLTAP_DECODE=0 "$ccltap" record -o "$work/undecoded" -- \
    sh "$work/both" "$work/meet.undecoded" "$library" >/dev/null 2>&1
"$ccltap" timeline --format jsonl "$work/undecoded" >"$work/jsonl"
cat >"$work/inferred" <<'END'
import collections, json, sys
spans = [json.loads(line)["fields"] for line in open(sys.argv[1], encoding="utf-8")
         if '"layer":"net"' in line]
sizes = collections.Counter(fields["bytes"] for fields in spans)
wanted = {1000 * channel + 10 * k: 2 * 2 for channel in range(6) for k in range(5)}
if sizes != wanted:
    print("sizes:", sizes)
print(len(spans), "messages;",
      *sorted({fields.get("message_known", "exact") for fields in spans}),
      *sorted({str(fields.get("channel_known")) for fields in spans}))
END
same "CCLTAP_DECODE=0: messages are inferred, and no channel is told" \
    "120 messages; inferred None" "$(python3 "$work/inferred" "$work/jsonl")"
same "CCLTAP_DECODE=0: no request is read" "0" \
    "$(babeltrace2 "$work/undecoded" | grep -cE 'net:(service|handshake)' || true)"
tap_done
