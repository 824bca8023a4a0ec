# SPDX-License-Identifier: MIT
# What ran on the GPU, from CUPTI.  A part of libccltap.so, and needs no header of CUPTI's.

CUPTI_SOURCES = \
	src/cupti/abi.h \
	src/cupti/buffers.c src/cupti/buffers.h \
	src/cupti/callback.c src/cupti/callback.h \
	src/cupti/client.c src/cupti/client.h \
	src/cupti/clock.c src/cupti/clock.h \
	src/cupti/library.c src/cupti/library.h \
	src/cupti/names.c src/cupti/names.h \
	src/cupti/nvml.c src/cupti/nvml.h \
	src/cupti/owner.c src/cupti/owner.h \
	src/cupti/records.c src/cupti/records.h \
	src/cupti/entry_point.c

EXTRA_DIST += src/cupti/README.md
