#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All-reduces and matrix products of PyTorch's, before, while and after its own profiler
looks on; without --profiler nobody does.  Each rank a process, on one GPU if there is but
one.  The log says what was asked for, and what the profiler saw.

usage: torch_allreduce.py RANKS FOLDER [--profiler]"""
import collections
import json
import os
import sys
import time

import torch
import torch.distributed
import torch.multiprocessing

COUNT = 65536


def work(log, phase):
    data = torch.ones(COUNT, device="cuda")
    matrix = torch.ones(256, 256, device="cuda")
    for _ in range(3):
        data.fill_(1)
        torch.distributed.all_reduce(data)
        log({"op": "ncclAllReduce", "count": COUNT, "phase": phase})
        torch.mm(matrix, matrix)
    torch.cuda.synchronize()
    if not bool((data == torch.distributed.get_world_size()).all()):
        raise SystemExit("wrong sums")


def profiled(log):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        work(log, "during")
    names = collections.Counter(
        event.name for event in profiler.events()
        if event.device_type == torch.autograd.DeviceType.CUDA and
        not event.name.startswith("Mem"))
    log({"profiled": names})


def run(rank, ranks, folder, has_profiler, store):
    os.environ["NCCL_HOSTID"] = f"check-gpu-{rank}"
    torch.cuda.set_device(rank % torch.cuda.device_count())
    torch.distributed.init_process_group("nccl", init_method="file://" + store, rank=rank,
                                         world_size=ranks)
    with open(f"{folder}/log.{rank}", "w") as file:
        def log(line):
            print(json.dumps(line), file=file, flush=True)
        log({"pid": os.getpid(), "rank": rank, "program": "torch_allreduce"})
        work(log, "before")
        if has_profiler:
            profiled(log)
            time.sleep(1)  # who let CUPTI go for it looks now and then whether it is free
            work(log, "after")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    numbers, to = int(sys.argv[1]), sys.argv[2]
    torch.multiprocessing.spawn(run, nprocs=numbers, args=(
        numbers, to, "--profiler" in sys.argv, os.path.abspath(to) + "/store"))
