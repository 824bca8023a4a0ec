# SPDX-License-Identifier: MIT
"""Asks a library for a network plugin as NCCL does, newest version first, and calls NCCL.

usage: net_plugin.py LIBNCCL PLUGIN first|last
"""
import ctypes
import sys


def ask():
    plugin = ctypes.CDLL(sys.argv[2])
    for version in range(12, 5, -1):
        try:
            table = ctypes.c_char_p.in_dll(plugin, f"ncclNetPlugin_v{version}")
        except ValueError:
            continue
        print(version, table.value.decode())
        return


if sys.argv[3] == "first":
    ask()
ctypes.CDLL(sys.argv[1]).ncclGetVersion(ctypes.byref(ctypes.c_int()))
if sys.argv[3] == "last":
    ask()
    ask()
