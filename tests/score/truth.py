# SPDX-License-Identifier: MIT
"""What mini-NCCL wrote of one run (tests/doubles/nccl/README): its communicators, threads,
connections, messages and launches, each by names that the program and its network have too:
addresses, thread numbers, queue pairs, ports.

It hides how the records of several processes and communicators fit together: who owns a
connection that children share, and which lines of both ends are one message."""
import collections
import glob
import json

NETWORKS = ("NET/IB", "NET/Socket")

# One end of a connection, as NCCL names it.
End = collections.namedtuple("End", "comm rank peer channel index direction")
Op = collections.namedtuple("Op", "comm rank number")


class Group:
    """Requests that one message of the wire carries at one end: most often one."""

    def __init__(self, lines):
        self.lines = lines
        self.bytes = sum(line["sent"] for line in lines)
        self.posted, self.done = lines[0]["posted_ns"], max(line["done_ns"] for line in lines)
        self.ops = {Op(line["comm_hash"], line["rank"], line["op"]) for line in lines}
        self.pairs = {pair_of(line) for line in lines}


def pair_of(line):
    """What the lines of both ends have, with who sends, and to whom."""
    ends = line["rank"], line["peer"]
    return (line["comm_hash"], line["channel"], line["index"], line["message"],
            *(ends if line["direction"] == "send" else ends[::-1]))


class Connection:
    """One end of what the wire has: several communicators and peers may share it."""

    def __init__(self, record):
        self.ends = []
        self.pid, self.transport = record["pid"], record["transport"]
        self.direction = record["direction"]
        self.queues = {(qp["adapter"], qp["number"]) for qp in record["qps"]
                       if qp["role"] == "data"}
        self.ports = {(socket["port"], socket["remote_port"])
                      for socket in record["sockets"]}
        self.lines = []
        self.groups = []

    def close(self):
        """Puts the lines of all that share it in order."""
        self.lines.sort(key=lambda line: (line["posted_ns"], line["message"]))
        together = collections.defaultdict(list)
        for line in self.lines:
            together[line["posted_ns"]].append(line)
        self.groups = [Group(lines) for lines in together.values()]


class Truth:
    def __init__(self, folder):
        told = collections.defaultdict(list)
        for path in sorted(glob.glob(folder + "/truth.*.jsonl")):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    # The last one of a process that was ended may not be whole.
                    if line.endswith("}\n"):
                        record = json.loads(line)
                        told[record["record"]].append(record)
        self.pids = {record["pid"] for records in told.values() for record in records}
        self.threads = told["thread"]
        self.comms = collections.defaultdict(list)  # by process and address, in their order
        self.ranks = {}  # by hash and rank
        self.by_device = {}  # rank, by hash, process and device
        for comm in told["communicator"]:
            self.comms[comm["pid"], comm["comm"]].append(comm)
            self.ranks[comm["comm_hash"], comm["rank"]] = comm
            self.by_device[comm["comm_hash"], comm["pid"], comm["device"]] = comm["rank"]
        self.connections = []
        self.of_end = {}
        self.of_queue, self.of_port = {}, {}
        for record in told["connection"]:
            self.add_connection(record)
        # A receiver may learn less of its size than was sent.
        sent = {pair_of(line): line["bytes"] for line in told["message"]
                if line["direction"] == "send"}
        for line in told["message"]:
            line["sent"] = sent.get(pair_of(line), line["bytes"])
        self.lost = []  # lines of messages whose connection was not told of
        for line in told["message"]:
            connection = self.of_end.get(self.owner(line))
            if connection:
                connection.lines.append(line)
            else:
                self.lost.append(line)
        for connection in self.connections:
            connection.close()
        self.launches = [launch for launch in told["launch"]
                         if launch["kind"] == "kernel" and launch["result"] == 0]
        self.ops = {}  # name, by Op
        for launch in told["launch"]:
            for op in launch["ops"]:
                self.ops[Op(launch["comm_hash"], launch["rank"], op["op"])] = op["name"]

    def add_connection(self, record):
        made = Connection(record)
        known = [self.of_queue.get((made.pid, *queue)) for queue in made.queues] + \
            [self.of_port.get((made.pid, *port)) for port in made.ports]
        connection = next((one for one in known if one), made) if record["shared"] else made
        if connection is made:
            self.connections.append(made)
        for queue in made.queues:
            self.of_queue[made.pid, *queue] = connection
        for port in made.ports:
            self.of_port[made.pid, *port] = connection
        end = End(record["comm_hash"], record["rank"], record["peer"], record["channel"],
                  record["index"], record["direction"])
        connection.ends.append(end)
        self.of_end[end] = connection

    def owner(self, line):
        """The end of a line's message, in the communicator whose connections it uses."""
        own = self.ranks[line["comm_hash"], line["rank"]]["proxy_hash"]

        def there(rank):
            comm = self.ranks[line["comm_hash"], rank]
            return self.by_device.get((own, comm["pid"], comm["device"]))
        return End(own, there(line["rank"]), there(line["peer"]), line["channel"],
                   line["index"], line["direction"])

    def moved(self):
        """The connections of networks that have moved something."""
        return [one for one in self.connections if one.groups and one.transport in NETWORKS]
