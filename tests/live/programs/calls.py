# SPDX-License-Identifier: MIT
"""The calls of calls.c as vLLM makes them: a handle, and each name looked up."""

import ctypes
import os
import sys


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_byte * 128)]


library = ctypes.CDLL(sys.argv[1])
library.ncclCommInitRank.argtypes = [
    ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId, ctypes.c_int]
library.ncclGetErrorString.restype = ctypes.c_char_p

version = ctypes.c_int()
unique_id = UniqueId()
comm = ctypes.c_void_p()
result = library.ncclGetVersion(ctypes.byref(version))
print("ncclGetVersion", result, "version", version.value)
print("ncclGetUniqueId", library.ncclGetUniqueId(ctypes.byref(unique_id)))
print("ncclGroupStart", library.ncclGroupStart())
print("ncclGroupEnd", library.ncclGroupEnd())
result = library.ncclCommInitRank(ctypes.byref(comm), 1, unique_id, 0)
print("ncclCommInitRank", result)
print("ncclGetErrorString", library.ncclGetErrorString(result).decode())
sys.stdout.flush()
# NCCL's own threads may still run: leave as a program that is done does.
os._exit(0)
