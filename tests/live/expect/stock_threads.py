#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the threads of a stock libnccl in a trace with the functions that they run, which its
symbol table names: stock_threads.py [--some] JSONL ROLE...

Each of these roles is there, each thread's role is its function's, and each is exact.  --some: of
threads that no call of NCCL's API has made, the role may be unknown.
"""
import collections
import json
import subprocess
import sys

ROLES = {
    "bootstrapRoot": "bootstrap",
    "ncclProxyService": "service",
    "ncclProxyServiceUDS": "uds",
    "ncclProxyProgress": "progress",
    "ncclAsyncJobMain": "job",
    "persistentSocketThread": "socket-helper",
    "ncclIbAsyncThreadMain": "device-events",
    "rasThreadMain": "ras",
    "ncclGinProgress": "gin",
}


def functions(library):
    """The names of functions, without their arguments, by address."""
    names = {}
    listed = subprocess.run(("nm", "-C", "--defined-only", library), check=True,
                            capture_output=True, text=True).stdout
    for line in listed.splitlines():
        address, kind, name = line.split(None, 2)
        if kind in "tT":
            names[int(address, 16)] = name.split("(")[0]
    return names


def main():
    arguments = sys.argv[1:]
    is_some = arguments[0] == "--some"
    path, *wanted = arguments[is_some:]
    libraries, names, errors, found = {}, {}, [], collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "library":
                libraries[record["process"], record["library_id"]] = record["path"]
            if record["type"] != "nccl_thread":
                continue
            library = libraries[record["process"], record["routine_library"]]
            if library not in names:
                names[library] = functions(library)
            name = names[library].get(record["routine_offset"], "no function")
            found[record["role"]] += 1
            if is_some and record["role"] == "unknown" and not record["function"] and name in ROLES:
                continue
            if record["role"] != ROLES.get(name):
                errors.append(f"{library}: {name} runs in a thread that is {record['role']}")
            if record["known"] != "exact":
                errors.append(f"{record['role']} is {record['known']}: {record['how']}")
    errors += [f"no thread is {role}" for role in wanted if not found[role]]
    for error, count in collections.Counter(errors).items():
        print(f"{count} times: {error}")
    print(f"{dict(found)} of {len(names)} libraries")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
