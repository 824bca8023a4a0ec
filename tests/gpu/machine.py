# SPDX-License-Identifier: MIT
"""What this machine has of what make check-gpu needs, or the doubles in its place.

CHECK_GPU_DOUBLES=1 takes the doubles; CHECK_GPU_LIBCUDA, CHECK_GPU_LIBNCCL and
CHECK_GPU_LIBCUPTI name a library, CHECK_GPU_PYTHON the interpreter that has PyTorch."""
import ctypes.util
import glob
import json
import os
import re
import site
import subprocess
import sys

# In a process of its own, so that none here has the GPU open.
ASK_DRIVER = """
import ctypes, json, sys
try:
    cuda = ctypes.CDLL(sys.argv[1])
except OSError as error:
    print(json.dumps({"missing": str(error)}))
    sys.exit()
count, version, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(256)
result = cuda.cuInit(0)
if not result:
    cuda.cuDeviceGetCount(ctypes.byref(count))
    cuda.cuDeviceGetName(name, 256, 0)
cuda.cuDriverGetVersion(ctypes.byref(version))
print(json.dumps({"result": result, "devices": count.value, "version": version.value,
                  "device": name.value.decode()}))
"""
ASK_NCCL = """
import ctypes, json, sys
try:
    nccl, version = ctypes.CDLL(sys.argv[1]), ctypes.c_int()
    nccl.ncclGetVersion(ctypes.byref(version))
    print(json.dumps({"version": version.value}))
except OSError as error:
    print(json.dumps({"missing": str(error)}))
"""
ASK_TORCH = """
import json
try:
    import torch, torch.distributed
    print(json.dumps({"version": torch.__version__, "cuda": torch.cuda.is_available(),
                      "nccl": torch.distributed.is_nccl_available()}))
except ImportError as error:
    print(json.dumps({"missing": str(error)}))
"""


def ask(python, program, *arguments):
    done = subprocess.run([python, "-c", program, *arguments], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        said = done.stderr.strip().splitlines()
        return {"missing": said[-1] if said else f"status {done.returncode}"}


def folders_of_packages(python):
    """Where pip puts libraries of NVIDIA's, for that interpreter."""
    done = subprocess.run([python, "-c", "import sys; print('\\n'.join(sys.path))"],
                          text=True, check=False, stdout=subprocess.PIPE)
    return [path for path in dict.fromkeys(done.stdout.split("\n") + site.getsitepackages())
            if os.path.isdir(path)]


class Machine:
    """programs, ccltap: paths.  library_path: what the programs need in LD_LIBRARY_PATH.
    Each of no_gpu, no_nccl, no_cupti, no_torch says why there is none, or is None."""

    def __init__(self, top):
        self.top = top
        self.is_double = os.environ.get("CHECK_GPU_DOUBLES") == "1"
        self.programs = os.path.join(top, "programs")
        self.doubles = os.path.join(top, "doubles")
        self.ccltap = os.path.join(top, "bin", "ccltap")
        self.python = os.environ.get("CHECK_GPU_PYTHON") or sys.executable
        if self.is_double:
            self.libcuda = os.path.join(self.doubles, "cuda", "libcuda.so.1")
            self.libnccl = os.path.join(self.doubles, "nccl", "libnccl.so.2")
            cupti = sorted(glob.glob(os.path.join(self.doubles, "cupti", "libcupti.so.*")))
            self.libcupti = cupti[-1] if cupti else None
        else:
            self.libcuda = os.environ.get("CHECK_GPU_LIBCUDA") or "libcuda.so.1"
            self.libnccl = self.find("CHECK_GPU_LIBNCCL", "nvidia/nccl/lib/libnccl.so.2",
                                     "nccl", ()) or "libnccl.so.2"
            self.libcupti = self.find(
                "CHECK_GPU_LIBCUPTI", "nvidia/cu*/lib/libcupti.so.1*", "cupti",
                ("nvidia/cuda_cupti/lib/libcupti.so.1*",
                 "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1[0-9]",
                 "/usr/local/cuda*/lib64/libcupti.so.1[0-9]"))
        self.driver = ask(sys.executable, ASK_DRIVER, self.libcuda)
        self.nccl = ask(sys.executable, ASK_NCCL, self.libnccl)
        if self.is_double:
            os.environ["PYTHONPATH"] = os.path.join(self.doubles, "torch")
        self.torch = ask(self.python, ASK_TORCH)
        self.no_gpu = self.why_no_gpu()
        self.no_nccl = self.no_gpu or ("no NCCL: " + self.nccl["missing"]
                                       if "missing" in self.nccl else None)
        self.no_cupti = self.no_gpu or self.why_no_cupti()
        self.no_torch = self.no_gpu or self.why_no_torch()

    def find(self, variable, in_packages, name, elsewhere):
        if os.environ.get(variable):
            return os.environ[variable]
        packages = folders_of_packages(self.python)
        for pattern in (in_packages, *elsewhere):
            for folder in [""] if pattern.startswith("/") else packages:
                found = sorted(glob.glob(os.path.join(folder, pattern)))
                if found:
                    return found[-1]
        return ctypes.util.find_library(name)

    def why_no_gpu(self):
        if "missing" in self.driver:
            return "no GPU: " + self.driver["missing"]
        if self.driver["result"]:
            return f"no GPU: cuInit says {self.driver['result']}"
        return None if self.driver["devices"] else "no GPU: the driver has no device"

    def why_no_cupti(self):
        help_text = subprocess.run([self.ccltap, "record", "--help"], text=True,
                                   check=False, stdout=subprocess.PIPE).stdout
        if "--gpu" not in help_text:
            return "this ccltap has no layer gpu (record has no --gpu)"
        if not self.libcupti:
            return ("the doubles have no CUPTI" if self.is_double else
                    "no libcupti is found: CHECK_GPU_LIBCUPTI names one")
        return None

    def why_no_torch(self):
        if "missing" in self.torch:
            return "no PyTorch: " + self.torch["missing"]
        if not self.torch["cuda"] or not self.torch["nccl"]:
            return "this PyTorch has no CUDA or no NCCL"
        return None

    def has_gpu_option(self):
        return self.no_cupti is None

    def library_path(self, *more):
        folders = [os.path.dirname(self.libcupti)] if self.has_gpu_option() else []
        folders += more
        if os.environ.get("LD_LIBRARY_PATH"):
            folders.append(os.environ["LD_LIBRARY_PATH"])
        return ":".join(folders)

    def environment(self, *folders, **settings):
        """Of a program: only what it is told here, and what the user has."""
        env = {name: value for name, value in os.environ.items()
               if not re.match(r"NCCL_|LD_PRELOAD|CCLTAP_|SOFTVERBS_", name)}
        env.update(GPU_LIBCUDA=self.libcuda, GPU_LIBNCCL=self.libnccl,
                   LTTNG_UST_REGISTER_TIMEOUT="60000")
        if self.has_gpu_option():
            env["GPU_LIBCUPTI"] = self.libcupti
        env["LD_LIBRARY_PATH"] = self.library_path(*folders)
        if not env["LD_LIBRARY_PATH"]:
            del env["LD_LIBRARY_PATH"]
        # Two ranks on one GPU, each on a host of its own (tests/gpu/ranks.c).
        env.update(NCCL_MNNVL_ENABLE="0", NCCL_NVLS_ENABLE="0", NCCL_MAX_NCHANNELS="2",
                   NCCL_CUMEM_ENABLE="0", NCCL_RAS_ENABLE="0", NCCL_SOCKET_IFNAME="lo")
        env.update(settings)
        return env

    def facts(self):
        """For the results."""
        def version(number, big, small):
            return f"{number // big}.{number % big // small}"
        facts = {"double": self.is_double, "kernel": os.uname().release,
                 "processors": os.cpu_count()}
        if not self.no_gpu:
            facts["device"] = self.driver["device"]
            facts["devices"] = self.driver["devices"]
            facts["driver"] = version(self.driver["version"], 1000, 10)
        if not self.no_nccl:
            number = self.nccl["version"]
            facts["nccl"] = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
        if self.libcupti:
            facts["cupti"] = os.path.basename(self.libcupti)
        if not self.no_torch:
            facts["torch"] = self.torch["version"]
        done = subprocess.run([self.ccltap, "--version"], text=True, check=False,
                              stdout=subprocess.PIPE)
        facts["ccltap"] = done.stdout.strip()
        return facts
