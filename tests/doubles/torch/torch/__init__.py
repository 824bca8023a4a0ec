# SPDX-License-Identifier: MIT
"""So much of PyTorch as tests/gpu/torch_allreduce.py uses, on the doubles of the CUDA driver,
NCCL and CUPTI that GPU_LIBCUDA, GPU_LIBNCCL and GPU_LIBCUPTI name, so that what make check-gpu
does with PyTorch can be tried without it.  Calls and copies are really made."""
import ctypes
import multiprocessing as processes_of_python
import os
import sys
import time
import types

__version__ = "double"

_cuda = _nccl = None
_world = types.SimpleNamespace(size=0, comm=ctypes.c_void_p(), stream=ctypes.c_void_p())
_seen = []  # names of what a profiler would see

FLOAT, SUM, BYTES = 7, 0, 4


def _must(result, what):
    if result:
        raise RuntimeError(f"{what}: {result}")


def _module(name, **members):
    module = sys.modules["torch." + name] = types.ModuleType("torch." + name)
    vars(module).update(members)
    return module


class Tensor:
    def __init__(self, count):
        self.count = count
        self.data = ctypes.c_uint64()
        _must(_cuda.cuMemAlloc_v2(ctypes.byref(self.data), ctypes.c_size_t(count * BYTES)),
              "cuMemAlloc")
        self.fill_(1)

    def fill_(self, value):
        values = (ctypes.c_float * self.count)(*[value] * self.count)
        _must(_cuda.cuMemcpyHtoD_v2(self.data, values, ctypes.c_size_t(self.count * BYTES)),
              "cuMemcpyHtoD")
        return self

    def __eq__(self, value):
        values = (ctypes.c_float * self.count)()
        _must(_cuda.cuMemcpyDtoH_v2(values, self.data, ctypes.c_size_t(self.count * BYTES)),
              "cuMemcpyDtoH")
        return types.SimpleNamespace(all=lambda: all(each == value for each in values))

    __hash__ = None


def ones(*sizes, device):
    assert device == "cuda"
    count = 1
    for size in sizes:
        count *= size
    return Tensor(count)


def mm(one, other):
    """No product: a copy in its place, as there is no kernel for it."""
    result = Tensor(one.count)
    _must(_cuda.cuMemcpyDtoDAsync_v2(result.data, other.data,
                                     ctypes.c_size_t(one.count * BYTES), _world.stream),
          "cuMemcpyDtoDAsync")
    _seen.append("product")
    return result


def _all_reduce(tensor):
    _must(_nccl.ncclAllReduce(ctypes.c_void_p(tensor.data.value),
                              ctypes.c_void_p(tensor.data.value),
                              ctypes.c_size_t(tensor.count), FLOAT, SUM, _world.comm,
                              _world.stream), "ncclAllReduce")
    _seen.append("ncclDevKernel_AllReduce")


class _UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


def _init_process_group(backend, init_method, rank, world_size):
    assert backend == "nccl" and init_method.startswith("file://")
    store = init_method[7:]
    unique = _UniqueId()
    if rank == 0:
        _must(_nccl.ncclGetUniqueId(ctypes.byref(unique)), "ncclGetUniqueId")
        with open(store + ".new", "wb") as file:
            file.write(bytes(unique))
        os.rename(store + ".new", store)
    else:
        while not os.path.exists(store):
            time.sleep(0.01)
        with open(store, "rb") as file:
            unique = _UniqueId.from_buffer_copy(file.read())
    _world.size = world_size
    _must(_nccl.ncclCommInitRank(ctypes.byref(_world.comm), world_size, unique, rank),
          "ncclCommInitRank")


def _set_device(number):
    global _cuda, _nccl
    context = ctypes.c_void_p()
    _cuda = ctypes.CDLL(os.environ["GPU_LIBCUDA"])
    _nccl = ctypes.CDLL(os.environ["GPU_LIBNCCL"])
    _must(_cuda.cuInit(0), "cuInit")
    _must(_cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), number),
          "cuDevicePrimaryCtxRetain")
    _must(_cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    _must(_cuda.cuStreamCreate(ctypes.byref(_world.stream), 0), "cuStreamCreate")


def _spawn(function, args, nprocs):
    context = processes_of_python.get_context("spawn")
    processes = [context.Process(target=function, args=(rank, *args))
                 for rank in range(nprocs)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise SystemExit(1)


_REQUESTED = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p),
                              ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t))
_COMPLETED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p,
                              ctypes.c_size_t, ctypes.c_size_t)
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32,
                             ctypes.c_void_p)
_CONCURRENT_KERNEL, _NAME_AT, _BUFFER = 10, 104, 1 << 16


class _Cupti:
    """A profiler's use of CUPTI: its own buffers, and all kernels."""

    def __init__(self, library):
        self.library = library
        self.names = []
        self.buffers = []
        self.subscriber = ctypes.c_void_p()
        self.callbacks = (_REQUESTED(self.requested), _COMPLETED(self.completed),
                          _CALLBACK(lambda *_: None))
        _must(library.cuptiSubscribe(ctypes.byref(self.subscriber), self.callbacks[2], None),
              "cuptiSubscribe")
        _must(library.cuptiActivityRegisterCallbacks(*self.callbacks[:2]),
              "cuptiActivityRegisterCallbacks")
        _must(library.cuptiActivityEnable(_CONCURRENT_KERNEL), "cuptiActivityEnable")

    def requested(self, buffer, size, records):
        self.buffers.append(ctypes.create_string_buffer(_BUFFER))
        buffer[0], size[0], records[0] = ctypes.addressof(self.buffers[-1]), _BUFFER, 0

    def completed(self, _context, _stream, buffer, _size, valid):
        record = ctypes.c_void_p()
        while not self.library.cuptiActivityGetNextRecord(
                ctypes.c_void_p(buffer), ctypes.c_size_t(valid), ctypes.byref(record)):
            if ctypes.c_uint32.from_address(record.value).value == _CONCURRENT_KERNEL:
                name = ctypes.c_char_p.from_address(record.value + _NAME_AT).value
                self.names.append(name.decode())

    def end(self):
        _must(self.library.cuptiActivityFlushAll(1), "cuptiActivityFlushAll")
        _must(self.library.cuptiActivityDisable(_CONCURRENT_KERNEL), "cuptiActivityDisable")
        _must(self.library.cuptiUnsubscribe(self.subscriber), "cuptiUnsubscribe")
        return self.names


class _Profile:
    """With CUPTI where there is one, else with what was counted."""

    def __init__(self, activities):
        assert activities
        self.cupti = None

    def __enter__(self):
        _seen.clear()
        if "GPU_LIBCUPTI" in os.environ:
            self.cupti = _Cupti(ctypes.CDLL(os.environ["GPU_LIBCUPTI"]))
        return self

    def __exit__(self, *_):
        self.names = self.cupti.end() if self.cupti else list(_seen)

    def events(self):
        return [types.SimpleNamespace(name=name, device_type="cuda") for name in self.names]


cuda = _module("cuda", is_available=lambda: True, device_count=lambda: 1,
               set_device=_set_device,
               synchronize=lambda: _must(_cuda.cuCtxSynchronize(), "cuCtxSynchronize"))
distributed = _module("distributed", is_nccl_available=lambda: True,
                      init_process_group=_init_process_group, all_reduce=_all_reduce,
                      get_world_size=lambda: _world.size,
                      destroy_process_group=lambda: _must(_nccl.ncclCommDestroy(_world.comm),
                                                          "ncclCommDestroy"))
multiprocessing = _module("multiprocessing", spawn=_spawn)
profiler = _module("profiler", profile=_Profile,
                   ProfilerActivity=types.SimpleNamespace(CPU="cpu", CUDA="cuda"))
autograd = _module("autograd", DeviceType=types.SimpleNamespace(CUDA="cuda"))
