#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Files of PyTorch's profiler, in the form that Kineto writes (libkineto's output_json.cpp), and
what must be of them in a trace that they are merged into.

usage: merge.py make DIR                        # files for ranks of the case why-late
       merge.py check MERGED PLAIN OWN FILE=PROCESS...
       merge.py change FILE COMMAND...         # once COMMAND has read FILE for the first time

check compares MERGED with PLAIN, which the same recording is without them, and writes what is our
own in MERGED to OWN.  PROCESS is the name of the process in which the events of FILE must be.
Prints lines of TAP without numbers.
"""
import collections
import ctypes
import gzip
import json
import os
import re
import select
import subprocess
import sys

BASE = 500000000  # ns: the case begins at 1 s


def metadata(what, pid, tid, **args):
    return {"name": what, "ph": "M", "ts": 599999.001, "pid": pid, "tid": tid, "args": args}


def kineto(rank, pid):
    """A step of a rank: an operator, the call that it makes, the kernel, and what the profiler adds."""
    gpu = rank
    events = [{"ph": "X", "cat": "cpu_op", "name": "c10d::allreduce_", "pid": pid, "tid": pid,
               "ts": Number("600099.001"), "dur": Number("900.250"),
               "args": {"External id": 7, "Sequence number": 12, "Input Dims": [[65536], []],
                        "scale": Number("1e-05"), "off": True, "none": None}},
              {"ph": "s", "id": 3, "pid": pid, "tid": pid, "ts": Number("600099.001"), "cat": "fwdbwd",
               "name": "fwdbwd"},
              {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernelExC", "pid": pid, "tid": pid,
               "ts": Number("600110.002"), "dur": Number("10.000"),
               "args": {"cbid": 430, "zero": "a\0\0b\0", "correlation": 101, "External id": 7}},
              {"ph": "s", "id": 101, "pid": pid, "tid": pid, "ts": Number("600110.002"), "cat": "ac2g",
               "name": "ac2g"},
              metadata("process_name", pid, 0, name="python3"),
              metadata("process_labels", pid, 0, labels="CPU"),
              metadata("process_sort_index", pid, 0, sort_index=pid),
              metadata("thread_name", pid, pid, name=f"thread {pid} (python3)"),
              metadata("thread_sort_index", pid, pid, sort_index=pid)]
    for device in range(8):
        events += [metadata("process_name", device, 0, name="python3"),
                   metadata("process_labels", device, 0, labels=f"GPU {device}"),
                   metadata("process_sort_index", device, 0, sort_index=5000000 + device)]
    events += [metadata("thread_name", gpu, 7, name="stream 7 "),
               {"ph": "X", "cat": "kernel", "name": "void at::\"native\"\\<k>", "pid": gpu, "tid": 7,
                "ts": Number("600165.003"), "dur": Number("700.000"),
                "args": {"device": gpu, "stream": 7, "correlation": 101}},
               {"ph": "f", "id": 101, "pid": gpu, "tid": 7, "ts": Number("600165.003"), "cat": "ac2g",
                "name": "ac2g", "bp": "e"},
               {"ph": "X", "cat": "cpu_op", "name": "autograd", "pid": pid, "tid": pid + 1,
                "ts": Number("600200.000"), "dur": Number("5.000")},
               {"ph": "f", "id": 3, "pid": pid, "tid": pid + 1, "ts": Number("600200.000"), "cat": "fwdbwd",
                "name": "fwdbwd", "bp": "e"},
               {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": pid, "tid": pid,
                "ts": Number("600300.125"), "args": {"Bytes": -512, "Addr": 18446744073709551615}},
               {"ph": "X", "cat": "Trace", "ts": Number("600000.000"), "dur": Number("2000.000"), "pid": "Spans",
                "tid": "PyTorch Profiler", "name": "PyTorch Profiler (0)", "args": {"Op count": 0}},
               {"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g", "pid": "Traces",
                "tid": "Trace PyTorch Profiler", "ts": Number("600000.000")},
               {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "",
                "ts": Number("602000.000")}]
    return {"schemaVersion": 1, "deviceProperties": [{"id": gpu, "name": "NVIDIA H200"}],
            "cuda_runtime_version": 12080,
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 4, "pg_count": 1,
                                "nccl_version": "2.28.9"},
            "record_shapes": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE,
            "traceEvents": events, "traceName": f"./rank{rank}.json"}


class Number(float):
    """A number that is written as it was read."""

    def __new__(cls, text):
        number = float.__new__(cls, text)
        number.text = text
        return number

    def __repr__(self):
        return self.text


def marked(value):
    """With numbers as texts, since json writes a float in its own way."""
    if isinstance(value, Number):
        return f"@@{value.text}@@"
    if isinstance(value, dict):
        return {key: marked(one) for key, one in value.items()}
    return [marked(one) for one in value] if isinstance(value, list) else value


def dump(trace):
    return re.sub('"@@([^"@]*)@@"', r"\1", json.dumps(marked(trace), indent=1))


def write(path, trace):
    text = dump(trace)
    with (gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w")) as file:
        file.write(text)


def make(folder):
    def put(name, trace, **changes):
        for key, value in changes.items():
            trace[key] = value
            if value is None:
                del trace[key]
        write(f"{folder}/{name}", trace)

    put("rank0.json", kineto(0, 10))
    put("rank2.json.gz", kineto(2, 30))
    put("pid.json", kineto(1, 20), distributedInfo=None)
    put("unknown.json", kineto(1, 999), distributedInfo=None)
    for name, rank in (("text", "1"), ("words", "one"), ("later", "0.1")):
        put(f"{name}-rank.json", kineto(1, 20), distributedInfo={"rank": rank})
    put("absent.json", kineto(6, 60))
    put("namespace.json", kineto(3, 7777))
    put("since1970.json", moved(kineto(0, 10), 1700000000000000), baseTimeNanoseconds=None)
    put("relative.json", kineto(0, 10), baseTimeNanoseconds=None)
    put("timeless.json", kineto(0, 10), traceEvents=[{"ph": "X", "name": "a", "pid": 1, "tid": 1}])
    put("base.json", kineto(0, 10), baseTimeNanoseconds="early")
    put("other.json", {"some": "thing"})
    put("late-base.json", {"traceEvents": kineto(0, 10)["traceEvents"], "baseTimeNanoseconds": BASE})
    write(f"{folder}/array.json", moved(kineto(0, 10), 1700000000000000)["traceEvents"])
    with open(f"{folder}/rank0.json", encoding="utf-8") as file:
        text = file.read()
    with open(f"{folder}/nan.json", "w", encoding="utf-8") as file:
        file.write(text.replace('"scale": 1e-05', '"scale": NaN'))
    with open(f"{folder}/behind.json", "w", encoding="utf-8") as file:
        file.write(text + "{}")


def moved(trace, microseconds):
    for event in trace["traceEvents"]:
        if event["ph"] != "M":
            whole, _, decimals = repr(event["ts"]).partition(".")
            event["ts"] = Number(f"{int(whole) + microseconds}.{decimals}")
    return trace


def change(path, *command):
    """Exits with the status of the command; 99: it was over before the file was changed."""
    libc = ctypes.CDLL(None)
    notices = libc.inotify_init()
    libc.inotify_add_watch(notices, path.encode(), 0x10)  # IN_CLOSE_NOWRITE
    with subprocess.Popen(command) as one:
        while one.poll() is None and not select.select([notices], [], [], 0.05)[0]:
            pass
        is_early = one.poll() is None
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            file.write('{"traceEvents":[')
        os.replace(f"{path}.new", path)
        status = one.wait()
    sys.exit(status if is_early and status else 99)


# ---- What must be of it ----

def read(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")) as file:
        return json.load(file, parse_float=Number)


def time_of(event, base):
    whole, _, decimals = repr(event["ts"]).partition(".")
    return base + int(whole + (decimals + "000")[:3])


def known(events):
    """The names of processes, and of threads."""
    names = {}
    for event in events:
        if event["ph"] == "M" and event["name"].endswith("_name"):
            names[event["pid"], event.get("tid")] = event["args"]["name"]
    return names


def place_of(event, names):
    return names.get((event["pid"], None)), names.get((event["pid"], event["tid"]))


def is_merged(event, names):
    thread = names.get((event["pid"], event.get("tid"))) or ""
    process = names.get((event["pid"], None)) or ""
    return thread == "PyTorch" or thread.startswith("PyTorch: ") or process.startswith("PyTorch, ")


def rest(event):
    return {key: value for key, value in event.items() if key not in ("pid", "tid", "ts", "id")}


def ok(is_right, sentence, *details):
    print(("ok - " if is_right else "not ok - ") + sentence)
    if not is_right:
        for detail in details:
            print("#", str(detail)[:1000])


def check_file(path, process, merged, base, names):
    trace = read(path)
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    own_base = 0 if isinstance(trace, list) else trace.get("baseTimeNanoseconds", 0)
    wanted = [(time_of(event, own_base), repr(rest(event))) for event in events if event["ph"] != "M"]
    mine = [event for event in merged if place_of(event, names)[0] == process]
    got = [(time_of(event, base), repr(rest(event))) for event in mine]
    name = path.split("/")[-1]
    ok(wanted == got, f"{name}: each event is in {process}, with its time and all that it says",
       [one for one in wanted if one not in got], [one for one in got if one not in wanted])
    threads = {place_of(event, names)[1] for event in mine}
    before = len({(str(event["pid"]), str(event["tid"])) for event in events if event["ph"] != "M"})
    ok(len(threads) == before and all(threads), f"{name}: each thread and stream has a track", threads)
    ids = [one for one in threads if one.endswith('"') or ': "' in one]
    ok(not ids, f"{name}: and tracks have no marks of JSON in their names", ids)
    return mine


def check(merged_path, plain_path, own_path, *files):
    merged, plain = read(merged_path), read(plain_path)
    events, base = merged["traceEvents"], merged["baseTimeNanoseconds"]
    names = known(events)
    foreign = [event for event in events if event["ph"] != "M" and is_merged(event, names)]
    all_flows = collections.Counter()
    for one in files:
        path, process = one.split("=", 1)
        mine = check_file(path, process, foreign, base, names)
        flows = collections.Counter((event["cat"], event["id"]) for event in mine if event["ph"] in "sf")
        ok(all(count == 2 for count in flows.values()), f"{path}: each arrow has its two ends", flows)
        all_flows += flows
    ok(all(count == 2 for count in all_flows.values()), "arrows of different files are different ones", all_flows)
    ours = [event for event in events if event["ph"] != "M" and not is_merged(event, names)]
    plain_names = known(plain["traceEvents"])

    def told(event, file_base, file_names):
        return time_of(event, file_base), place_of(event, file_names), repr(rest(event))

    before = collections.Counter(told(event, plain["baseTimeNanoseconds"], plain_names)
                                 for event in plain["traceEvents"] if event["ph"] != "M" and
                                 event.get("name") != "about this trace")
    after = collections.Counter(told(event, base, names) for event in ours
                                if event.get("name") != "about this trace")
    ok(before == after, "what is our own is what it was", before - after, after - before)
    ok([one["file"] for one in merged["merged"]] == [one.split("=")[0] for one in files],
       "the file says what was merged", merged["merged"])
    with open(own_path, "w", encoding="utf-8") as file:
        file.write(dump({**merged, "traceEvents": [event for event in events if not is_merged(event, names)]}))


if __name__ == "__main__":
    {"make": make, "check": check, "change": change}[sys.argv[1]](*sys.argv[2:])
