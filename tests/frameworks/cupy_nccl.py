# SPDX-License-Identifier: MIT
"""CuPy's binding of NCCL, which needs no GPU until a communicator is made."""
import maps
from cupy.cuda import nccl

print(nccl.available, nccl.get_version(), nccl.get_build_version())
try:
    unique_id = nccl.get_unique_id()
    print("unique id of", len(unique_id), "numbers")
    nccl.NcclCommunicator(1, unique_id, 0)
except Exception as error:
    print(type(error).__name__)
