# SPDX-License-Identifier: MIT
# What scripts/check --frameworks runs; no part of make check.

EXTRA_DIST += tests/frameworks/cupy_nccl.py tests/frameworks/jax_plugin.py \
	tests/frameworks/maps.py tests/frameworks/pynccl.py \
	tests/frameworks/torch_compile.py tests/frameworks/torch_gloo.py \
	tests/frameworks/torch_loader.py tests/frameworks/torch_nccl.py
