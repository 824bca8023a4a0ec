# SPDX-License-Identifier: MIT
# libccltap-events.so: LTTng and its providers, opened by libccltap when first needed; and
# HIP's, opened where there is HIP.

lib_LTLIBRARIES += libccltap-events.la libccltap-events-hip.la

libccltap_events_la_SOURCES = \
	src/common/safe_read.c src/common/safe_read.h \
	src/tracepoints/cuda_events.h \
	src/tracepoints/cuda_hot_tp.c src/tracepoints/cuda_hot_tp.h \
	src/tracepoints/cuda_tp.c src/tracepoints/cuda_tp.h \
	src/tracepoints/events.c src/tracepoints/events.h \
	src/tracepoints/gpu_events.h \
	src/tracepoints/gpu_hot_tp.c src/tracepoints/gpu_hot_tp.h \
	src/tracepoints/gpu_tp.c src/tracepoints/gpu_tp.h \
	src/tracepoints/guest.h src/tracepoints/providers.h \
	src/tracepoints/nccl_tp.c src/tracepoints/nccl_tp.h \
	src/tracepoints/net_events.h src/tracepoints/net_fields.h \
	src/tracepoints/net_hot_tp.c src/tracepoints/net_hot_tp.h \
	src/tracepoints/net_tp.c src/tracepoints/net_tp.h \
	src/tracepoints/nvtx_tp.c src/tracepoints/nvtx_tp.h \
	src/tracepoints/packed.c src/tracepoints/packed.h \
	src/tracepoints/statedump_tp.c \
	src/tracepoints/tap_tp.c src/tracepoints/tap_tp.h \
	src/tracepoints/through_gate.h \
	src/tracepoints/verbs_events.h src/tracepoints/verbs_fields.h \
	src/tracepoints/verbs_hot_tp.c src/tracepoints/verbs_hot_tp.h \
	src/tracepoints/verbs_tp.c src/tracepoints/verbs_tp.h
libccltap_events_la_CPPFLAGS = $(AM_CPPFLAGS) $(LTTNG_UST_CFLAGS)
libccltap_events_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -fno-omit-frame-pointer
# The call that statedump_tp.c makes is in a library of its own, which pkg-config does not name.
libccltap_events_la_LIBADD = $(LTTNG_UST_LIBS) -llttng-ust-tracepoint
libccltap_events_la_LDFLAGS = $(MODULE_LDFLAGS) -export-symbols-regex '^tap_events$$' \
	$(tap_lttng_ldflags)

libccltap_events_hip_la_SOURCES = \
	src/common/safe_read.c src/common/safe_read.h \
	src/tracepoints/cuda_hot_tp.c src/tracepoints/cuda_tp.c \
	src/tracepoints/events_hip.c src/tracepoints/packed.c
libccltap_events_hip_la_CPPFLAGS = $(libccltap_events_la_CPPFLAGS) -DTAP_HIP
libccltap_events_hip_la_CFLAGS = $(libccltap_events_la_CFLAGS)
libccltap_events_hip_la_LIBADD = $(LTTNG_UST_LIBS)
libccltap_events_hip_la_LDFLAGS = $(MODULE_LDFLAGS) -export-symbols-regex '^tap_hip_events$$' \
	$(tap_lttng_ldflags)

# LTTng's macros ask for a symbol per event that nobody has: without the option each
# is looked for in all libraries of the program when it starts.
# LTTng cancels its threads when the process exits, and glibc opens libgcc_s for
# that: where it no longer can (chroot, no descriptors left) it aborts.
tap_lttng_ldflags = -Wl,-z,nodynamic-undefined-weak \
	-Wl,--push-state,--no-as-needed,-lgcc_s,--pop-state
