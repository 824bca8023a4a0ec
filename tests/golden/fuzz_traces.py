#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Damages traces in all the ways that disks, copies and people do, and has ccltap read them.

fuzz_traces.py [--seed N] [--runs N] [--first N] [--jobs N] [--keep] SEEDS

SEEDS is a folder of sound recordings.  Five runs in a row have one damage and each view
reads it: text, JSON lines, a CTF trace, report, check.  A run depends on nothing but --seed
and its number.  Each has to end by itself within 20 s (of a processor of its own: what reads
may take so much of one, and on a machine that does other things wait as long four times), with
a status and a word that a person can use.  What does not is printed with the command that does it again; with --keep,
the damaged traces stay where that says.  $CCLTAP is the command.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import resource
import shutil
import socket
import stat
import subprocess
import sys
import time

LIMIT_S = 20
BUSY = 4
PACKET = b"\xc1\x1f\xfc\xc1"
VIEWS = [
    ["timeline"],
    ["timeline", "--format", "jsonl"],
    ["timeline", "--format", "ctf", "-o", "made"],
    ["report"],
    ["check"],
]
# No word for a person: sanitizers, assertions, addresses, babeltrace2's own inside.
FORBIDDEN = re.compile(
    r"Sanitizer|runtime error|[Aa]ssert|0x[0-9a-f]{6}|ccltap failed|libbabeltrace|msg-it|"
    r"precondition|postcondition|GLib|status=|User function|\(null\)|[a-z]-addr|╯")
SAYS = re.compile(r"^ccltap: .*[a-z]", re.MULTILINE)


# ---- Damages: each changes a copy of a recording, and says how ----


def files_of(top, pattern=""):
    found = []
    for folder, folders, names in os.walk(top):
        folders.sort()
        found += [os.path.join(folder, name) for name in sorted(names)]
    return [name for name in found if re.search(pattern, name)
            and stat.S_ISREG(os.lstat(name).st_mode)]


def read(path):
    with open(path, "rb") as file:
        return bytearray(file.read())


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def pick(chance, top, pattern):
    """A file of those that match, else any."""
    return chance.choice(files_of(top, pattern) or files_of(top))


STREAMS = r"/(?!metadata|ccltap-recording)[^/.]+$"


def bits(chance, top):
    path = pick(chance, top, STREAMS)
    data = read(path)
    for _ in range(chance.randint(1, 8)):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    write(path, data)
    return path


def packet_headers(chance, top):
    """The first bytes of packets: sizes, clocks, identifiers."""
    paths = files_of(top, STREAMS)
    chosen = chance.sample(paths, min(len(paths), chance.randint(1, 3)))
    for path in chosen:
        data = read(path)
        starts = [m.start() for m in re.finditer(re.escape(PACKET), bytes(data))] or [0]
        start = chance.choice(starts)
        for _ in range(chance.randint(1, 3)):
            at = start + chance.randrange(96)
            length = chance.choice([1, 4, 8])
            if at + length <= len(data):
                data[at:at + length] = chance.choice(
                    [bytes(length), b"\xff" * length, chance.randbytes(length)])
        write(path, data)
    return " ".join(chosen)


def cut(chance, top):
    path = pick(chance, top, chance.choice([STREAMS, ""]))
    size = os.path.getsize(path)
    os.truncate(path, chance.choice([0, 1, size // 2, max(size - chance.randint(1, 64), 0),
                                     chance.randrange(size + 1)]))
    return path


def packets(chance, top):
    """Packets that are dropped, doubled or swapped, with or without their index."""
    path = pick(chance, top, STREAMS)
    data = bytes(read(path))
    parts = [PACKET + part for part in data.split(PACKET)[1:]] or [data]
    at, other = chance.randrange(len(parts)), chance.randrange(len(parts))
    what = chance.choice(["dropped", "doubled", "swapped"])
    if what == "dropped":
        del parts[at]
    elif what == "doubled":
        parts.insert(other, parts[at])
    else:
        parts[at], parts[other] = parts[other], parts[at]
    write(path, b"".join(parts))
    if chance.random() < 0.5:
        remove_index(top)
    return f"{path}: packet {at} {what}"


def remove_index(top):
    for folder, folders, _ in os.walk(top):
        if "index" in folders:
            shutil.rmtree(os.path.join(folder, "index"))
            folders.remove("index")


def streams(chance, top):
    """Files of streams under each other's names, or one of them twice."""
    paths = files_of(top, STREAMS)
    one, other = chance.choice(paths), chance.choice(paths)
    data = read(one)
    if chance.random() < 0.5:
        write(one, read(other))
        write(other, data)
    else:
        write(one + "0", data)
    return f"{one} {other}"


def metadata_bytes(chance, top):
    path = pick(chance, top, "metadata$")
    data = read(path)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        length = chance.choice([1, 1, 1, 8, 200])
        data[at:at + length] = chance.choice(
            [b"", chance.randbytes(length), data[:length], b"}" * length])
    write(path, data)
    return path


def metadata_words(chance, top):
    """Numbers and words that are others: still a text that is nearly metadata."""
    path = pick(chance, top, "metadata$")
    data = bytes(read(path))
    for _ in range(chance.randint(1, 4)):
        words = list(re.finditer(rb"(?<![\w.])(\d+|[a-z_]+)(?=[ ;\]])", data))
        if not words:
            break
        word = chance.choice(words)
        new = chance.choice([b"0", b"1", b"7", b"64", b"4096", b"18446744073709551615",
                             b"1152921504606846976", b"-1", chance.choice(words)[0]])
        # In packets of metadata every byte counts: there, what comes must be as long.
        if PACKET[:1] in data[:1] or data[:4] == b"\x57\x1d\xd1\x75":
            new = new[:len(word[0])].rjust(len(word[0]))
        data = data[:word.start()] + new + data[word.end():]
    write(path, data)
    return path


def index(chance, top):
    paths = files_of(top, r"\.idx$")
    if not paths:
        return None
    path = chance.choice(paths)
    data = read(path)
    for _ in range(chance.randint(1, 4)):
        # The fields are of 8 bytes, after a head of 16.
        at = chance.choice([chance.randrange(len(data)),
                            min(16 + 8 * chance.randrange(12), len(data) - 8)])
        new = chance.choice([bytes(8), b"\xff" * 8, chance.randbytes(1),
                             (1 << chance.randrange(63)).to_bytes(8, "big")])
        data[at:at + len(new)] = new
    write(path, data[:chance.choice([len(data), len(data), 4, 20])])
    return path


def index_of_another(chance, top):
    paths = files_of(top, r"\.idx$")
    if len(paths) < 2:
        return None
    one, other = chance.sample(paths, 2)
    shutil.copy(one, other)
    return f"{one} {other}"


def marker(chance, top):
    lines = [b"ccltap recording 1", b"name ", b"name " + b"n" * 3000, b"removed -5",
             b"removed 4294967295", b"removed 99999999999999999999", b"removed x",
             b"job zzzz", b"rank -1", b"ended", b"snapshot \x00\xff", b"session",
             b"name \xff\xfe\x1b[31m", chance.randbytes(40), b""]
    text = b"\n".join(chance.choice(lines) for _ in range(chance.randint(0, 12)))
    where = chance.choice([top] + [folder for folder, _, _ in os.walk(top)])
    write(os.path.join(where, "ccltap-recording"), text)
    return where


def special(chance, top):
    """What is no file in the place of one."""
    path = pick(chance, top, chance.choice(["", "metadata$", r"\.idx$", STREAMS,
                                            "ccltap-recording$"]))
    kind = chance.choice(["fifo", "folder", "loop", "zero", "full", "socket", "unreadable",
                          "dangling", "device", "index", "above"])
    if kind == "above":
        os.symlink("..", path + ".up")
        return f"{path}: {kind}"
    if kind == "index":
        remove_index(top)
        os.symlink(".", os.path.join(os.path.dirname(path), "index"))
        return f"{path}: {kind}"
    os.unlink(path)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        os.mkdir(path)
    elif kind == "loop":
        os.symlink(os.path.basename(path), path)
    elif kind in ("zero", "full"):
        os.symlink(f"/dev/{kind}", path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            here = os.open(os.path.dirname(path), os.O_PATH)
            made.bind(f"/proc/self/fd/{here}/{os.path.basename(path)}")
            os.close(here)
    elif kind == "dangling":
        os.symlink("absent", path)
    elif kind == "device" and os.geteuid() == 0:
        try:
            os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
        except OSError:
            os.symlink("/dev/zero", path)
    else:
        write(path, b"x" * 100)
        os.chmod(path, 0)
    return f"{path}: {kind}"


def strange_files(chance, top):
    folder = os.path.dirname(pick(chance, top, "metadata$"))
    name = chance.choice(["junk", ".hidden", "hot_0~", "a\nb", "x" * 200, "metadata.bak"])
    write(os.path.join(folder, name), chance.randbytes(chance.choice([0, 1, 5000])))
    return name


DAMAGES = [bits, bits, packet_headers, packet_headers, cut, packets, packets, streams,
           metadata_bytes, metadata_words, metadata_words, index, index_of_another, marker,
           special, special, strange_files]


def damage(seed, number, seeds, to):
    """Makes the damaged recording of these runs.  Returns what was done."""
    chance = random.Random(f"{seed}.{number // len(VIEWS)}")
    names = sorted(os.listdir(seeds))
    # The one that LTTng itself wrote has most to damage.
    name = chance.choice(names + ["recorded"] * (len(names) if "recorded" in names else 0))
    shutil.copytree(os.path.join(seeds, name), to)
    done = [name]
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        how = chance.choice(DAMAGES)
        try:
            done.append(f"{how.__name__}({how(chance, to)})")
        except (OSError, IndexError, ValueError) as error:
            done.append(f"{how.__name__}: {error}")  # What was damaged before is in its way.
    return "; ".join(done).replace(to + "/", "")


# ---- Runs ----


def clean(folder):
    for top, folders, names in os.walk(folder):
        for name in folders:
            path = os.path.join(top, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def judge(view, status, out, err, made, temporary):
    """What is wrong with the end of a run, or None."""
    if status is None:
        return f"did not end within {LIMIT_S} s"
    if status < 0 or status > 2:
        return f"ended by signal {-status}" if status < 0 else f"status {status}"
    found = FORBIDDEN.search(err)
    if found:
        return f"no word for a person: {found[0]!r}"
    if any(ord(char) < 32 and char != "\n" for char in err):
        return "control characters on standard error"
    if os.listdir(temporary):
        return f"left {os.listdir(temporary)} in TMPDIR"
    if status:
        verdict = view == ["check"] and out.startswith(b"verdict: bad\n")
        if not verdict and not SAYS.search(err):
            return f"status {status} without a word"
        if os.path.exists(made):
            return "left half an output"
        return None
    if "ctf" in view:
        return None if os.path.isdir(made) else "wrote nothing"
    if not out.endswith(b"\n"):
        return "wrote half a line"
    if "jsonl" in view:
        try:
            records = [json.loads(line) for line in out.decode("utf-8").splitlines()]
        except ValueError as error:
            return f"no JSON: {error}"
        heads = [record for record in records if record["type"] == "trace"]
        if len(heads) != 2 or heads != [records[0], records[-1]]:
            return "JSON lines without a head at both ends"
        if heads[0]["loss"] is not None or not heads[1]["loss"]:
            return "JSON lines with the losses at the wrong end"
    return None


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))


def run(options, number):
    work = os.path.join(options.work, str(number))
    trace, made = os.path.join(work, "trace"), os.path.join(work, "made")
    temporary = os.path.join(work, "tmp")
    os.makedirs(temporary)
    how = damage(options.seed, number, options.seeds, trace)
    view = VIEWS[number % len(VIEWS)]
    command = [options.ccltap] + [made if word == "made" else word for word in view]
    # A bad access of babeltrace2's ends it as it does without sanitizers; its parser of
    # metadata leaks when it fails.
    environment = dict(os.environ, TMPDIR=temporary, ASAN_OPTIONS=":".join(
        ["detect_leaks=0", "handle_segv=0", "handle_sigbus=0", "handle_sigfpe=0", "allocator_may_return_null=1",
         os.environ.get("ASAN_OPTIONS", "")]))
    start = time.monotonic()
    try:
        done = subprocess.run(command + [trace], stdin=subprocess.DEVNULL, check=False,
                              capture_output=True, timeout=LIMIT_S * (1 + BUSY),
                              env=environment, preexec_fn=limit)
        status, out, err = done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        status, out, err = None, b"", ""
    took = time.monotonic() - start
    wrong = judge(view, status, out, err, made, temporary)
    if not options.keep:
        clean(work)
    return number, how, " ".join(view), status, err, took, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("seeds")
    options = parser.parse_args()
    options.seeds = os.path.abspath(options.seeds)
    options.work = os.path.abspath(f"fuzz-traces.{os.getpid()}")
    options.ccltap = os.path.abspath(os.environ["CCLTAP"])
    statuses, failed, slowest, left_out = collections.Counter(), 0, (0.0, 0), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        numbers = range(options.first, options.first + options.runs)
        for number, how, view, status, err, took, wrong in pool.map(
                lambda number: run(options, number), numbers):
            statuses[status] += 1
            slowest = max(slowest, (took, number))
            left_out += "babeltrace2 " in err
            if not wrong:
                continue
            failed += 1
            print(f"# run {number}, {view}: {wrong}\n#   {how!r}\n#   again: {sys.argv[0]} "
                  f"--seed {options.seed} --first {number} --runs 1 --keep {options.seeds}")
            for line in err.splitlines()[:30]:
                print(f"#   | {line}")
    if options.keep:
        print(f"# kept: {options.work}")
    else:
        clean(options.work)
    print(f"# {options.runs} runs: {statuses[0]} read, {statuses[1]} bad or failed, "
          f"{statuses[2]} refused; babeltrace2 died or came to no end in {left_out}; the "
          f"slowest, {slowest[1]}, took {slowest[0]:.1f} s; {failed} were wrong")
    return 1 if failed else 0


sys.exit(main())
