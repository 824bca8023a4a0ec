# SPDX-License-Identifier: MIT
# The spec: rows and what they mean.  list-calls prints them, and is built first.

noinst_PROGRAMS += list-calls
list_calls_SOURCES = \
	src/calls/list-calls.c \
	src/calls/cuda.def \
	src/calls/cuda_api.h \
	src/calls/cuda_calls.h \
	src/calls/cudart.def \
	src/calls/cudart_calls.h \
	src/calls/cuda_kinds.h \
	src/calls/cuda_types.h \
	src/calls/cupti.def \
	src/calls/cupti_calls.h \
	src/calls/hip.def \
	src/calls/hip_types.h \
	src/calls/kinds.h \
	src/calls/nccl.def \
	src/calls/nccl_calls.h \
	src/calls/nccl_enums.h \
	src/calls/nccl_types.h \
	src/calls/verbs.def \
	src/calls/verbs_calls.h

EXTRA_DIST += doc/calls.md doc/HOWTO.md scripts/update-exports
