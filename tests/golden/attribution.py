#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Made-up ranks whose kernels and messages are known, and a judge of what the reader says.

usage: attribution.py make SEED SETTING... >EVENTS 2>TRUTH
       attribution.py judge TRUTH JSONL LEAST [DECODED [WRONG]]

Ranks of one or two communicators run collectives round a ring, and groups of sends and
receives.  A kernel begins when the one before it has ended; its messages are posted after
that, some when the sender's kernel is over; the receiver's ends when all have arrived.
Kernels are reported late, and for each rank at other times.  A message is found again by its
sender and the time when it was posted.  The judge demands that so many percent are ascribed, and
are claimed as decoded, and that nothing is wrong, or, of what is inferred, so many in 1000.
Settings:

  ranks=N comms=N ops=N channels=N  how much there is
  split         the second communicator was split off, and shares the threads of the first
  own           the second communicator was split off, and has threads of its own
  undecoded     nothing says which channel and index a connection is for
  unthreaded    nothing says which communicator a thread was made for
  late          recording begins in the middle
  lost=N        of so many messages, one is missing
  gone=N        of so many kernels, one is not reported
  skew          the GPUs' clocks are wrong by what the tracer says
  uncupti       no kernel is reported
  rule          all-reduces of several sizes, with as many messages, and of those sizes, as
                NCCL's ring sends; sends and receives have as many messages as their size says
  sends         with rule: sends and receives have the messages that NCCL makes of their size,
                and the arguments of their kernels are recorded, too
  buffer=N      with rule: SIMPLE's buffers have so many bytes, as the environment says
  unset         with buffer: the environment does not say it
  later         with rule: NCCL is of a release (2.32.3) whose rules are not known
  older=VERSION with rule: NCCL is of a release whose kernels' arguments name no function.  21803:
                each channel has as many messages as the others, be they empty; 22105: a share is
                a multiple of what all threads take, and a name may be that of other algorithms
  close         kernels follow one another at once, and many messages are posted late
  blind         as undecoded, and nothing says what a kernel was launched for
  sums          collectives that are none of all-reduce, each with what a ring sends for it, by
                one protocol, divided by chance; sends and receives likewise
  partial       with sums: some channels have another ring, so that not all is on a connection
  made          the groups are collectives, which NCCL makes of sends and receives
  odd=N         of so many all-reduces, one has another number of messages
  graphs=N      of so many operations, one begins a graph of some, which is then launched now
                and then; these have the places of what was captured in no other way
  fused=N       of so many all-reduces, one is two of a group, and one of no elements between them
  idle=N        of so many operations, all but one send nothing
  empty=N       of so many groups of sends, one is of no bytes: a message each, on one channel
  nodeless      nobody tells of the nodes of graphs
  pxn=N         so many ranks are a node, whose first one posts what they all send (PXN)
  spare         a connection has a socket more, made first, over which nothing passes
  callers       with pxn: who connects to a service thread is recorded
  busy          with pxn: a service thread answers another rank before a connection that it has
                accepted for its own one is made
"""
import copy
import json
import random
import sys

KERNELS = {"all": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "p2p": "ncclDevKernel_SendRecv"}
OLDEST = ["ncclKernel_AllReduce_RING_LL_Sum_float", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"]
ERROR_NS = 15
BUFFER = 4194304  # of SIMPLE, unless NCCL_BUFFSIZE says otherwise


class Op:
    """One operation of a communicator, or a group of sends and receives, on all ranks."""

    def __init__(self, kind, mask):
        self.kind, self.mask = kind, mask
        self.begin, self.end, self.launch, self.call = {}, {}, {}, {}
        self.node, self.captured = {}, {}
        self.count = 64
        self.parts = None
        self.function, self.root, self.protocol, self.chunk = "ncclAllReduce", None, 0, 0
        self.alike = None
        self.is_simple = True
        self.serial = 0
        self.is_captured = self.is_fused = self.is_idle = self.is_empty = False


def divide(count, wanted, per_byte):
    """How 2.28.9 divides numbers of 4 bytes among the channels that it wants."""
    cell = (-(-16384 // per_byte) + 15) // 16 * 16
    cells = -(-4 * count // cell)
    share = min(cells, -(-max(16384, max(16384, 4 * count * per_byte) // wanted) //
                         (cell * per_byte)))
    parts = [share * cell // 4] * (cells // share)
    if cells % share:
        parts.append(cells % share * cell // 4)
    parts[-1] -= cells * cell // 4 - count
    return parts if len(parts) <= wanted else None


def chunk_of(is_simple, buffer):
    return buffer // 2 // 4 if is_simple else 32768 // 4


def divide_evenly(count, channels, ranks, is_simple):
    """How 2.18.3 does: what is left for the last loop is the first channels'."""
    loop = ranks * chunk_of(is_simple, BUFFER)
    full, rest = count // (channels * loop), count % (channels * loop)
    return [full * loop + max(0, min(loop, rest - place * loop)) for place in range(channels)]


def alignment(is_simple):
    """Numbers of 4 bytes that 2.21.5 divides into multiples of, with 512 threads for LL."""
    return 4096 // 4 if is_simple else 8 * 512 // 4


def divide_aligned(count, wanted, is_simple):
    align = alignment(is_simple)
    share = -(-count // (wanted * align)) * align
    return [share] * ((count - 1) // share) + [(count - 1) % share + 1]


def ring(count, ranks, place, is_simple, buffer, loops=0, align=4):
    """The bytes of each message that the rank at this place of a ring sends of its part, in so
    many loops or more."""
    chunk = chunk_of(is_simple, buffer)
    sizes = []
    while count > 0 or loops > 0:
        loops -= 1
        if count < ranks * chunk:
            chunk = -(-(-(-count // ranks)) // align) * align
        for step in range(2 * (ranks - 1)):
            at = (place - 1 - step) % ranks
            length = max(0, min(chunk, count - at * chunk))
            if not is_simple:
                sizes.append(-(-length // 2) * 16)
                continue
            part = min(length, max(-(-length // 32) * 16, buffer // 4 // 4 // 32))
            sizes += [4 * part, 4 * min(part, length - part)]
        count -= min(count, ranks * chunk)
    return sizes


def send(count, channels, part, buffer):
    """The bytes of each message of a send of so many bytes, over the channel with this part,
    between nodes: NCCL begins with one channel, and takes more for a large send."""
    wanted, most = 1, min(131072, buffer // 8)
    while -(-count // wanted) > most and wanted <= channels // 2:
        wanted *= 2
    each = (-(-count // wanted) + 4095) // 4096 * 4096
    size = min(count, (part + 1) * each) - part * each
    if part >= wanted or size <= 0:
        return []
    chunk = most // 4 if count < most else most // 2 if count < 8 * most else most
    return [min(chunk, size - at) for at in range(0, size, chunk)]


def wrap(protocol, size):
    """What a message has on the wire, by SIMPLE, LL or LL128."""
    return size if not protocol else -(-size // 8) * 16 if protocol == 1 else \
        -(-size // 1920) * 2048


class Graph:
    """Some operations that were captured, of all ranks."""

    def __init__(self, number, ops):
        self.number, self.ops = number, ops


class World:
    def __init__(self, seed, settings):
        self.random = random.Random(seed)
        self.set = settings
        self.ranks = settings.get("ranks", 3)
        self.channels = settings.get("channels", 2)
        self.events = []
        self.truth = {}
        self.cut = 0
        self.calls = [10 * rank for rank in range(self.ranks)]
        self.numbers = [0] * self.ranks
        self.sockets = [0] * self.ranks
        self.nodes = [0] * self.ranks
        self.nets = {}
        self.graphs, self.owners = [], []
        self.runs, self.frees = [], []

    def at(self, time, rank, stream, tid, what, /, **fields):
        texts = [stream + str(rank), str(100 + rank), str(tid), what]
        for name, value in fields.items():
            if isinstance(value, bool):
                value = int(value)
            texts.append(f"{name}={value}")
        self.events.append((time, len(self.events), " ".join(texts)))

    def text(self, string):
        return '"' + string + '"'

    # -- What there is from the beginning

    def describe(self, comm, time):
        late = self.set.get("late")
        for rank in range(self.ranks):
            fields = dict(
                comm_id=comm + 1, comm=hex(0xA00 + comm), comm_key=hex(0xA1 + comm),
                alias_key="0x0", origin="1:init",
                parent_comm_id=1 if comm and (self.set.get("split") or
                                             self.set.get("own")) else 0,
                ordinal=comm + 1, phase="1:ready", async_error="0:ncclSuccess",
                nranks=f"+{self.ranks}", rank=f"+{rank}", device=f"+{rank}", collectives=0)
            self.at(time, rank, "setup", 10, "tap:comm", call_id=1000 + comm, **fields)
            if comm and self.set.get("reset"):
                self.set_buffer(time, rank, self.set["reset"])
            if late:
                self.at(self.cut + 1, rank, "setup", 10, "tap:statedump_comm", **fields)
            self.threads(comm, rank, time)

    def poster(self, rank):
        """The rank whose threads send what this one does."""
        return rank // self.set["pxn"] * self.set["pxn"] if self.set.get("pxn") else rank

    def clients(self, comm, time):
        """Each rank connects to the service thread of its own and of whoever posts for it."""
        for rank in range(self.ranks):
            for poster in sorted({rank, self.poster(rank)}, reverse=True):
                when = time + 1 + (rank != poster) * (1 + rank)
                listener = self.text(f"127.0.0.1:{7000 + 100 * comm + poster}")
                caller = self.text(f"127.0.0.1:{8000 + 100 * comm + rank}")
                # The event of who connects may come after that of who accepts.
                if self.set.get("callers"):
                    self.at(when + rank % 2, rank, "setup", 10, "net:caller_connect",
                            local=caller, peer=listener)
                self.at(when, poster, "setup", 500 + comm, "net:accept", accepted=1,
                        socket_id=self.client(comm, rank), local=listener, peer=caller)

    def client(self, comm, rank):
        """The socket of a rank at the service threads that it asks."""
        return 900 + 100 * comm + rank

    def ask(self, rank, comm, poster, socket, accepted, time):
        """A connection that the service thread makes for the rank, as its calls alone show."""
        calls = [("recv", self.client(comm, rank)), ("recv" if accepted else "send", socket),
                 ("send", self.client(comm, rank))]
        guests = [one for one in range(self.ranks) if self.poster(one) == poster != one]
        if self.set.get("busy") and accepted and guests:
            calls[2:2] = [("send", self.client(comm, guests[-1]))]
        for what, one in calls:
            self.at(time, poster, "hot", 500 + comm, "net:" + what, begin_ns=time - 1, socket_id=one,
                    offset=0, length=13, bytes=13, part=0, message=0, size=0, left=0,
                    empty_calls=0)

    def threads(self, comm, rank, time):
        """The service thread and the progress thread of the communicator's proxy."""
        if self.set.get("unthreaded") or (comm and self.set.get("split")):
            return
        for tid, creator in ((500 + comm, 10), (600 + comm, 500 + comm)):
            self.at(time, rank, "setup", tid, "tap:ccl_thread", tid=f"+{tid}",
                    creator_tid=f"+{creator}", creator_is_ccl=creator >= 500,
                    call_id=1000 + comm if creator == 10 else 0,
                    outer_call_id=1000 + comm if creator == 10 else 0,
                    function=self.text("ncclCommInitRank" if creator == 10 else ""),
                    routine_library=1,
                    routine_offset=1 if creator == 10 else 2, argument=hex(0xF00 + comm),
                    nr_arguments=1, begin_ns=time)

    def progress(self, comm):
        if self.set.get("split"):
            comm = 0
        return 600 + comm

    # -- Connections

    def net(self, comm, sender, receiver, channel, index, time):
        """The two sockets of a connection; made for who uses it first."""
        if self.set.get("split"):
            comm = 0
        key = comm, sender, receiver, channel, index
        if key in self.nets:
            return self.nets[key]
        port = 20000 + 2 * len(self.nets)
        listener, local = f"10.0.0.{receiver}:{port}", f"10.0.0.{sender}:{port + 1}"
        ids = []
        for asker, accepted in ((sender, 0), (receiver, 1)):
            rank = asker if accepted else self.poster(asker)
            self.sockets[rank] += 1 + bool(self.set.get("spare"))
            ids.append(self.sockets[rank])
            if not self.set.get("undecoded") and not self.set.get("blind"):
                self.service(asker, rank, comm, accepted, listener, channel, index,
                             sender if accepted else receiver, time)
            fields = dict(socket_id=ids[-1],
                          local=self.text(listener if accepted else local),
                          peer=self.text(local if accepted else listener), accepted=accepted)
            if self.set.get("late"):
                self.at(self.cut + 2, rank, "setup", 10, "tap:statedump_socket", use=3,
                        index="+0", **fields)
            if self.set.get("spare"):
                other = f"10.0.0.{sender}:{port + 20001}"
                self.connect(rank, ids[-1] - 1, 0, time, accepted=accepted,
                          local=self.text(listener if accepted else other),
                          peer=self.text(other if accepted else listener))
            self.connect(rank, ids[-1], int(bool(self.set.get("spare"))), time, **fields)
            if self.set.get("pxn"):
                self.ask(asker, comm, rank, ids[-1], accepted, time)
        # Number of the message, offset in the stream, time of the last post and arrival.
        self.nets[key] = [*ids, 0, 13, time, time]
        return self.nets[key]

    def connect(self, rank, socket, index, time, accepted, **fields):
        fields["socket_id"] = socket
        self.at(time, rank, "setup", 500, "net:accept" if accepted else "net:connect",
                accepted=accepted, **fields)
        self.at(time, rank, "setup", 500, "net:handshake", socket_id=socket, use=3,
                index=f"+{index}")

    def service(self, rank, poster, comm, is_receive, listener, channel, index, peer, time):
        pointer = hex(0x1000 + len(self.events))

        def ask(what, values, address=""):
            operation = hex(0x5000 + len(self.events))
            socket = self.client(comm, rank)
            self.at(time, poster, "setup", 500, "net:service_request", socket_id=socket,
                    type=what, connection=pointer, operation=operation,
                    values="[" + ",".join(str(v) for v in values) + "]",
                    address=self.text("" if is_receive else address))
            self.at(time, poster, "setup", 500, "net:service_response", socket_id=socket,
                    operation=operation, connection=pointer,
                    address=self.text(address if is_receive and what == 3 else ""))

        ask(1, [2, int(not is_receive), 0, 0, 0])
        ask(3, [rank, 0, peer, 0, 0, 0, 0, channel, index], listener)
        ask(4, [], listener)

    def message(self, comm, op, sender, receiver, channel, index, size, step):
        draw = self.random.randrange
        # In the call, as NCCL does.
        net = self.net(comm, sender, receiver, channel, index, op.launch[sender] + 1)
        poster = self.poster(sender)
        posted = max(op.begin[sender] + 1 + draw(self.spread(sender)), net[4] + 1)
        while (poster, posted) in self.truth:
            posted += 1
        arrived = max(posted + 5 + draw(40), op.begin[receiver] + 1, net[5] + 3)
        net[2] += 1
        net[4], net[5] = posted, arrived
        lost = self.set.get("lost")
        self.truth[poster, posted] = dict(comm=comm, op=op, channel=channel, step=step,
                                          bytes=size, sender=sender, receiver=receiver)
        for rank, time, socket, call, drop in (
                (poster, posted, net[0], "send", lost and not draw(lost)),
                (receiver, arrived, net[1], "recv", lost and not draw(lost))):
            if drop:
                continue
            begin = time if call == "send" else time - 2
            end = time + 1 if call == "send" else time
            shared = dict(begin_ns=begin, result=f"+{size + 4}", socket_id=socket,
                          message=net[2], size=size)
            self.at(end, rank, "hot", self.progress(comm), "net:" + call, part=2, offset=net[3],
                    length=size + 4, left=0, **shared)
        net[3] += size + 4
        return arrived

    def spread(self, rank):
        """The sender's proxy may be slow, so that its kernel is over before its posts."""
        if self.set.get("close"):
            return 100 if self.random.randrange(3) else 20
        return 400 if not self.random.randrange(4) else 60 + rank

    # -- Operations

    def run_op(self, comm, op, free):
        draw = self.random.randrange
        for rank in range(self.ranks):
            op.begin[rank] = max(free[rank], op.launch[rank] + 20) + 1 + draw(30)
        arrived = dict(op.begin)
        pairs = []
        for rank in range(self.ranks):
            if op.kind == "all":
                pairs.append((rank, (rank + 1) % self.ranks, 0))
            else:
                pairs += [(rank, (rank + 1) % self.ranks, 1), ((rank + 1) % self.ranks, rank, 1)]
        for sender, receiver, index in sorted(set(pairs)):
            for channel in range(self.channels):
                if op.is_idle or not op.mask >> channel & 1:
                    continue
                sizes = self.sizes_of(op, sender, receiver, channel)
                for step, size in enumerate(sizes):
                    time = self.message(comm, op, sender, receiver, channel, index, size, step)
                    arrived[receiver] = max(arrived[receiver], time)
        for rank in range(self.ranks):
            op.end[rank] = max(arrived[rank], op.begin[rank] + 10) + 1 + draw(60)
            free[rank] = op.end[rank] + (draw(200) if not draw(5) else draw(3))
            if self.set.get("close"):
                free[rank] = op.end[rank] + draw(2)

    def sizes_of(self, op, sender, receiver, channel):
        if op.is_empty:
            return [] if (channel - (receiver - sender)) % self.channels else [0]
        if self.set.get("sums"):
            return self.sum_of(op, sender, receiver, channel)
        if not self.set.get("rule"):
            return [self.random.randrange(1000, 9000) for _ in range(1 + self.random.randrange(4))]
        if op.kind == "p2p" and self.set.get("sends"):
            # Which channel has the first part depends on how far the ranks are apart.
            return send(4 * op.count, self.channels,
                        (channel - (receiver - sender)) % self.channels,
                        self.set.get("buffer", BUFFER))
        if op.kind == "p2p":
            return [4 * op.count] if op.count <= 256 else [op.count // 4] * (1 + op.count % 3)
        # The ring of a channel begins with another rank.
        place = (sender + channel) % self.ranks
        loops = -(-max(op.parts) // (self.ranks * chunk_of(op.is_simple, BUFFER)))
        sizes = ring(op.parts[channel], self.ranks, place, op.is_simple,
                     self.set.get("buffer", BUFFER),
                     loops if self.set.get("older") == 21803 else 0,
                     alignment(op.is_simple) if self.set.get("older") == 22105 else 4)
        return sizes[:-1] if self.set.get("odd") and not op.serial % self.set["odd"] else sizes

    def sum_of(self, op, sender, receiver, channel):
        """What this channel has of all that one rank sends the other one."""
        channels = [one for one in range(self.channels) if op.mask >> one & 1]
        if channel == channels[0]:
            count = 4 * op.count
            if op.function in ("ncclAllGather", "ncclReduceScatter") and op.kind == "all":
                count *= self.ranks - 1
            if op.kind == "all" and op.root == {"ncclBroadcast": receiver,
                                                "ncclReduce": sender}.get(op.function, -1):
                count = 0
            # NCCL divides what is alike in the same way.
            draw = random.Random(f"{op.alike} {sender} {receiver}").randrange
            cuts = sorted(draw(count + 1) for _ in channels[1:])
            op.parts = [end - begin for begin, end in zip([0] + cuts, cuts + [count])]
        part = op.parts[channels.index(channel)]
        if self.set.get("partial") and op.kind == "all" and (sender + channel) % 2:
            return []
        sizes = []
        while part:
            size = min(part, op.chunk)
            sizes.append(wrap(op.protocol, size))
            part -= size
            if op.kind == "all" and not len(sizes) % 4:
                sizes.append(0)
        return sizes

    def draw_sum(self, op):
        draw = self.random.randrange
        op.count = (1, 4, 64, 128, 256, 1000, 1024, 5000)[draw(8)]
        op.function, op.root = (("ncclAllGather", None), ("ncclReduceScatter", None),
                                ("ncclBroadcast", draw(self.ranks)),
                                ("ncclReduce", draw(self.ranks)))[draw(4)]
        op.alike = (op.kind, op.count, op.function, op.root) if op.kind == "all" else \
            (op.kind, op.count)
        draw = random.Random(str(op.alike)).randrange
        op.mask = 1 + draw((1 << self.channels) - 1)
        op.protocol = draw(3)
        op.chunk = (4 * op.count + draw(8 * op.count)) // (1 + draw(6)) + 1

    def draw_op(self, serial):
        """An operation, and how it is divided."""
        draw = self.random.randrange
        op = Op("all" if draw(3) else "p2p", 1 + draw((1 << self.channels) - 1))
        op.serial = serial
        fused = self.set.get("fused")
        op.is_idle = bool(self.set.get("idle") and serial % self.set["idle"])
        op.is_fused = bool(fused and op.kind == "all" and not draw(fused))
        if self.set.get("empty") and op.kind == "p2p" and not serial % self.set["empty"]:
            op.is_empty, op.count = True, 0
            op.mask = (1 << self.channels) - 1
            return op
        if self.set.get("sums"):
            self.draw_sum(op)
        if not self.set.get("rule"):
            # No less than its messages have, which are drawn.
            if op.kind == "p2p" and not self.set.get("sums"):
                op.count = 40000
            return op
        op.count = (64, 1000, 5001, 40000, 300000)[draw(5)]
        op.is_simple = op.count > 30000
        op.mask = (1 << (self.channels if op.count > 1000 or self.set.get("sends") else 1)) - 1
        if op.kind == "all":
            older, wanted = self.set.get("older"), len(bin(op.mask)) - 2
            op.parts = divide_evenly(op.count, wanted, self.ranks, op.is_simple) \
                if older == 21803 else divide_aligned(op.count, wanted, op.is_simple) \
                if older else divide(op.count, self.channels, 2 if op.is_simple else 8)
            op.mask = (1 << len(op.parts)) - 1
        return op

    def call_op(self, comm, op, now, numbers):
        """The calls of all ranks, and the launches in them."""
        draw = self.random.randrange
        for rank in range(self.ranks):
            time = now + draw(40)
            op.launch[rank] = time
            if op.is_fused:
                self.call_fused(comm, op, rank, time, numbers)
            elif op.kind == "all" or self.set.get("made"):
                self.call_one(comm, op, rank, time, numbers)
            else:
                self.call_messages(comm, op, rank, time, numbers)

    def next_call(self, rank):
        self.calls[rank] += 1
        return self.calls[rank]

    def entry(self, comm, rank, time, function, number, group=0, peer=None, count=64,
              is_captured=False, root=None):
        call = self.next_call(rank)
        named = {"ncclAllGather": "sendcount", "ncclReduceScatter": "recvcount"}
        fields = dict(call_id=call, parent_id=0, inner=0,
                      **{named.get(function, "count"): count}, datatype="7:ncclFloat32",
                      comm=hex(0xA00 + comm), comm_id=comm + 1, comm_key=hex(0xA1 + comm),
                      op_number=number, not_counted=0, group_id=group)
        if root is not None:
            fields["root"] = f"+{root}"
        if number:
            fields["capture"] = "1:active" if is_captured else "0:none"
        if peer is not None:
            fields["peer"] = f"+{peer}"
        self.at(time, rank, "hot", 20 + comm, f"nccl:{function}_entry", **fields)
        return call

    def leave(self, comm, rank, time, function, call, **more):
        self.at(time, rank, "hot", 20 + comm, f"nccl:{function}_exit", call_id=call,
                result="0:ncclSuccess", **more)

    def functions_of(self, op):
        """What the arguments say of them."""
        if self.set.get("older"):
            return dict(version=self.set["older"], args_bytes=0, nr_batches=0, work_storage=0, complete=0,
                        nr_functions=0, func_id="[]", work_type="[]")
        number = 669 if op.kind != "all" else 260 if op.is_simple else 258
        return dict(version=23203 if self.set.get("later") else 22809, args_bytes=96, nr_batches=1,
                    work_storage=1, complete=1, nr_functions=1,
                    func_id=f"[{number + 3 if self.set.get('later') else number}]",
                    work_type="[1]")

    def launch(self, comm, op, rank, time, parent):
        call = self.next_call(rank)
        op.call[rank] = call
        kernel = 0xF0 + (op.kind != "all")
        if (op.kind == "all" or self.set.get("sends")) and not self.set.get("blind"):
            self.at(time, rank, "hot", 20 + comm, "cuda:nccl_args", call_id=call,
                    comm=hex(0xC00 + comm), channel_mask=hex(op.mask), **self.functions_of(op))
        if op.is_captured:
            op.node[rank] = self.make_node(rank, time + 1, call)
        self.at(time + 2, rank, "hot", 20 + comm, "cuda:cuLaunchKernelEx", begin_ns=time + 1,
                call_id=call, parent_id=parent, context="0xc0", result="+0", per_thread=0,
                runtime=0, capture=f"+{int(op.is_captured)}", correlation_id=1000 + call,
                gridDimX=bin(op.mask).count("1"), hStream="0x50", f=hex(kernel))

    def call_one(self, comm, op, rank, time, numbers):
        op.number = numbers.setdefault((rank, "all"), 0) + 1
        numbers[rank, "all"] = op.number
        function = op.function if op.kind == "all" else "ncclAlltoAll"
        call = self.entry(comm, rank, time, function, op.number, count=op.count,
                          is_captured=op.is_captured, root=op.root if op.kind == "all" else None)
        self.launch(comm, op, rank, time + 2, call)
        self.leave(comm, rank, time + 6, function, call)

    def call_fused(self, comm, op, rank, time, numbers):
        """All-reduces that one kernel carries out; the second has nothing to do."""
        first = numbers.get((rank, "all"), 0) + 1
        numbers[rank, "all"] = first + 2
        self.call_group(comm, op, rank, time, [
            ("ncclAllReduce", first + i, None, count)
            for i, count in enumerate((op.count, 0, op.count))])

    def call_messages(self, comm, op, rank, time, numbers):
        peers = sorted({(rank + 1) % self.ranks, (rank - 1) % self.ranks})
        calls = []
        for function, peer in ([("ncclSend", p) for p in peers] +
                               [("ncclRecv", p) for p in peers]):
            key = rank, function, peer
            numbers[key] = numbers.get(key, 0) + 1
            calls.append((function, numbers[key], peer, op.count))
        self.call_group(comm, op, rank, time, calls)

    def call_group(self, comm, op, rank, time, calls):
        self.numbers[rank] += 1
        group = self.numbers[rank]
        start = self.entry(comm, rank, time, "ncclGroupStart", 0, group)
        self.leave(comm, rank, time + 1, "ncclGroupStart", start)
        time += 2
        for function, number, peer, count in calls:
            call = self.entry(comm, rank, time, function, number, group, peer, count,
                              op.is_captured)
            self.leave(comm, rank, time + 1, function, call)
            time += 2
        call = self.entry(comm, rank, time, "ncclGroupEnd", 0, group)
        self.launch(comm, op, rank, time + 1, call)
        self.leave(comm, rank, time + 4, "ncclGroupEnd", call, group_outcome="+1")
        op.launch[rank] = time

    # -- Graphs

    def make_node(self, rank, time, call, original=0):
        self.nodes[rank] += 1
        if not self.set.get("nodeless"):
            self.at(time, rank, "setup", 20, "gpu:graph_node", call_id=call, correlation_id=1,
                    graph=1 + bool(original), node=self.nodes[rank], original=original)
        return self.nodes[rank]

    def capture(self, comm, ops, now, numbers):
        """Captures the operations, and makes them a graph that can be launched."""
        graph = Graph(len(self.graphs) + 1, ops)
        for op in ops:
            op.is_captured = True
            self.call_op(comm, op, now, numbers)
            now += 60
        for rank in range(self.ranks):
            call = self.next_call(rank)
            self.at(now, rank, "hot", 20 + comm, "cuda:cuGraphInstantiateWithFlags_entry",
                    call_id=call, parent_id=0, per_thread=0, hGraph="0x900", flags=0)
            for op in ops:
                op.node[rank] = self.make_node(rank, now + 1, call, op.node[rank])
            self.at(now + 2, rank, "hot", 20 + comm, "cuda:cuGraphInstantiateWithFlags_exit",
                    call_id=call, result="+0", phGraphExec=hex(0xE000 + graph.number))
        self.graphs.append(graph)
        return now + 5

    def launch_graph(self, comm, graph, now):
        """Each operation of it once more."""
        draw = self.random.randrange
        again = [copy.copy(op) for op in graph.ops]
        for op in again:
            op.begin, op.end, op.launch, op.captured, op.call = {}, {}, {}, op.call, {}
        for rank in range(self.ranks):
            time = now + draw(40)
            call = self.next_call(rank)
            self.at(time + 2, rank, "hot", 20 + comm, "cuda:cuGraphLaunch", begin_ns=time,
                    call_id=call, parent_id=0, context="0xc0", result="+0", per_thread=0,
                    runtime=0, capture="+0", correlation_id=1000 + call,
                    hGraphExec=hex(0xE000 + graph.number), hStream="0x50")
            for op in again:
                op.launch[rank], op.call[rank] = time, call
        for op in again:
            self.run_op(comm, op, self.frees[comm])
            self.runs[comm].append(op)

    def report(self, comm, op, rank, flushed):
        if self.set.get("uncupti"):
            return
        gone = self.set.get("gone")
        if gone and not self.random.randrange(gone):
            return
        wrong = self.random.randrange(-ERROR_NS, ERROR_NS + 1) if self.set.get("skew") else 0
        begin, end = op.begin[rank] + wrong, op.end[rank] + wrong
        self.at(max(flushed, end + 1000), rank, "hot", 90, "gpu:kernel", start_ns=begin,
                end_ns=end, correlation_id=1000 + op.call[rank], device=rank, context=1,
                stream=7 + comm, name=1 + (op.kind != "all"), graph=2 * op.is_captured,
                graph_node=op.node.get(rank, 0))

    def kernels(self):
        if self.set.get("older") == 21803:
            return OLDEST
        names = KERNELS.values()
        return [one.replace("_Sum", "").replace("_LL", "") for one in names] \
            if self.set.get("later") else names

    def set_variable(self, time, rank, name, value):
        self.at(time, rank, "setup", 10, "tap:environment", name=self.text(name),
                value=self.text(str(value)), cut=0, withheld=0)

    def set_buffer(self, time, rank, size):
        self.set_variable(time, rank, "NCCL_BUFFSIZE", size)

    def names(self, time):
        for rank in range(self.ranks):
            self.at(time, rank, "setup", 10, "tap:process", pid=f"+{100 + rank}",
                    host='"alpha"', rank=f"+{rank}", command='"app"')
            if self.set.get("buffer") and not self.set.get("unset"):
                self.set_buffer(time, rank, self.set["buffer"])
            if self.set.get("chunk"):
                self.set_variable(time, rank, "NCCL_CHUNK_SIZE", self.set["chunk"])
            for i, kernel in enumerate(self.kernels()):
                self.at(time, rank, "setup", 10, "gpu:name", name=i + 1, text=self.text(kernel))
                self.at(time, rank, "setup", 10, "cuda:function", function=hex(0xF0 + i),
                        name=self.text(kernel))
            if not self.set.get("uncupti"):
                self.at(time, rank, "setup", 90, "gpu:owner", state='"taken"', holder='""',
                        library='""', version=22, detail='""')
            self.at(time, rank, "setup", 90, "gpu:clock", kind=1, offset_ns="+0",
                    residual_ns=ERROR_NS if self.set.get("skew") else 10)

    def step(self, comm, op, now, numbers):
        """An operation; or some are captured, or those of a graph are launched."""
        draw = self.random.randrange
        if self.set.get("graphs") and not draw(self.set["graphs"]):
            ops = [op] + [self.draw_op(op.serial) for _ in range(draw(3))]
            now = self.capture(comm, ops, now, numbers)
            self.launch_graph(comm, self.graphs[-1], now)
            self.owners.append(comm)
            return now + 40
        self.call_op(comm, op, now, numbers)
        self.run_op(comm, op, self.frees[comm])
        self.runs[comm].append(op)
        mine = [graph for graph, owner in zip(self.graphs, self.owners) if owner == comm]
        while mine and not draw(3):
            now += 60
            self.launch_graph(comm, mine[draw(len(mine))], now)
        return now

    def make(self):
        draw = self.random.randrange
        comms, count = self.set.get("comms", 1), self.set.get("ops", 60)
        self.cut = 20000 + 100 * count if self.set.get("late") else 0
        plans, numbers = [], []
        for comm in range(comms):
            self.describe(comm, 1000)
            if self.set.get("pxn"):
                self.clients(comm, 1001)
            plans.append([self.draw_op(serial + 1) for serial in range(count)])
            self.frees.append([10000] * self.ranks)
            self.runs.append([])
            numbers.append({})
        now = 10000
        for i in range(count):
            for comm in range(comms):
                # Calls are ahead of kernels, now and then by much.
                now = max(now + 60, min(self.frees[comm]) - (2000 if draw(2) else 50))
                now = self.step(comm, plans[comm][i], now, numbers[comm])
        self.names(900)
        if self.set.get("late"):
            self.names(self.cut)
        for comm in range(comms):
            for rank in range(self.ranks):
                flushed = 0
                for i, op in enumerate(self.runs[comm]):
                    if i % 7 == 0:
                        flushed = op.end[rank] + 3000 + draw(20000)
                    self.report(comm, op, rank, flushed)

    def write(self):
        print("trace host=alpha")
        for time, _, text in sorted(self.events):
            if time >= self.cut:
                print(time, text)
        truth = {f"{sender} {posted}": dict(
            comm=one["comm"], channel=one["channel"], step=one["step"], bytes=one["bytes"],
            sender=one["sender"], receiver=one["receiver"], calls=[list(one["op"].call.values()),
                                             list(one["op"].captured.values())])
                 for (sender, posted), one in self.truth.items()}
        json.dump(dict(cut=self.cut, messages=truth), sys.stderr)


def make(seed, words):
    settings = {}
    for word in words:
        name, _, value = word.partition("=")
        settings[name] = int(value) if value else 1
    world = World(seed, settings)
    world.make()
    world.write()


def is_right(link, spans, truth):
    """Whether the link is of one message, and of its kernels, channel and place."""
    sent_kernel, sent, received, received_kernel = (spans[one] for one in link["spans"])
    true = truth[f"{sent['process']} {sent['begin_ns']}"]
    right = sent["fields"]["bytes"] == received["fields"]["bytes"] == true["bytes"]
    right &= received["process"] == true["receiver"]
    right &= link["channel"] in (None, true["channel"])
    right &= link["step"] in (None, true["step"])
    for rank, kernel in (true["sender"], sent_kernel), (true["receiver"], received_kernel):
        right &= kernel["process"] == rank
        launches, captured = true["calls"]
        right &= kernel["fields"]["launch_call_id"] == launches[rank]
        right &= kernel["fields"].get("captured_call_id") == (captured[rank] if captured else None)
    return right


def judge(truth_path, jsonl_path, least, least_decoded=0, most_wrong=0):
    """Prints how many messages are ascribed; fails where too few are, or too many wrongly."""
    with open(truth_path, encoding="utf-8") as file:
        truth = json.load(file)["messages"]
    spans, links, known = {}, [], 0
    with open(jsonl_path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "span" and record["layer"] in ("net", "gpu"):
                spans[record["id"]] = record
            elif record["type"] == "link" and record["kind"] == "message-kernel":
                links.append(record)
            elif record["type"] == "link" and record["kind"] == "socket-message":
                known += 1
    right = wrong = wrongly_decoded = decoded = 0
    for link in links:
        one = is_right(link, spans, truth)
        right += one
        wrong += not one
        decoded += link["known"] == "decoded"
        if not one:
            wrongly_decoded += link["known"] == "decoded"
            print("wrong:", json.dumps(link))
    share, of_decoded = (100 * n / known if known else 0 for n in (right, decoded))
    print(f"{known} messages at both ends, {right} ascribed ({share:.1f} %), "
          f"{decoded} of them decoded ({of_decoded:.1f} %), {wrong} wrong")
    return not (known and share >= least and of_decoded >= least_decoded and
                not wrongly_decoded and 1000 * wrong <= most_wrong * right)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), sys.argv[3:])
    else:
        sys.exit(judge(sys.argv[2], sys.argv[3], *map(float, sys.argv[4:])))
