# SPDX-License-Identifier: MIT
"""The ctypes wrapper of NCCL that vLLM and SGLang have, the file alone: what else of the
framework it imports is not installed, and replaced by nothing much.

usage: pynccl.py FILE LIBRARY
"""
import importlib.util
import logging
import sys
import types

import maps
import torch

path, library = sys.argv[1:]


class Anything(types.ModuleType):
    """A module of the framework: it has loggers, settings that are not set, and itself."""
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("init_logger", "getLogger"):
            return logging.getLogger
        return lambda *arguments, **named: library


class Finder:
    def find_spec(self, name, _path=None, _target=None):
        if name.split(".")[0] in ("vllm", "sglang"):
            return importlib.util.spec_from_loader(name, self)
        return None

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Finder())
spec = importlib.util.spec_from_file_location("pynccl_wrapper", path)
wrapper = importlib.util.module_from_spec(spec)
spec.loader.exec_module(wrapper)
nccl = wrapper.NCCLLibrary(library)
print(nccl.ncclGetVersion(), nccl.ncclGetErrorString(4))
try:
    unique_id = nccl.ncclGetUniqueId()
    print("unique id of", len(bytes(unique_id)), "bytes")
    nccl.ncclCommInitRank(1, unique_id, 0)
except RuntimeError as error:
    print(error)
