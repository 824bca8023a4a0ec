# SPDX-License-Identifier: MIT
"""Two ranks of PyTorch with gloo, as a job without GPUs runs."""
import os
import socket

import maps
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def run(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    tensor = torch.full((1000,), float(rank + 1))
    dist.all_reduce(tensor)
    assert tensor.sum().item() == 3000
    gathered = [None, None]
    dist.all_gather_object(gathered, rank)
    if rank == 0:
        print("all-reduce", tensor[0].item(), "gathered", gathered)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    mp.spawn(run, args=(free,), nprocs=2)
