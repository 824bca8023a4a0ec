# SPDX-License-Identifier: MIT
"""PyTorch's own binding of NCCL, as far as it goes without a GPU."""
import maps
import torch

print(torch.__version__, torch.cuda.nccl.version(), torch.distributed.is_nccl_available())
try:
    print("unique id of", len(torch.cuda.nccl.unique_id()), "bytes")
except RuntimeError as error:
    print(str(error).splitlines()[0])
try:
    torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0,
                                         world_size=1)
    torch.distributed.all_reduce(torch.zeros(1))
except (RuntimeError, ValueError) as error:
    print(type(error).__name__)
