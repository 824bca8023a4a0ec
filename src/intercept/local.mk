# SPDX-License-Identifier: MIT
# libccltap.so: what is preloaded.  libc alone, no descriptor, and no thread until a call
# is recorded.

lib_LTLIBRARIES += libccltap.la
noinst_LTLIBRARIES += libccltap-lookup.la

EXTRA_DIST += src/intercept/README.md src/intercept/cuda/README.md src/intercept/dl/README.md \
	src/intercept/nccl/README.md src/intercept/net/README.md src/intercept/nvtx/README.md src/intercept/stack/README.md

# These run while sanitizers and libc itself are not ready: no call may be made
# out of them that the source does not show.
libccltap_lookup_la_SOURCES = \
	src/intercept/dl/elf.c src/intercept/dl/elf.h \
	src/intercept/dl/real.c src/intercept/dl/real.h \
	src/intercept/dlsym.S \
	src/intercept/lookup.c src/intercept/lookup.h
libccltap_lookup_la_CFLAGS = $(AM_CFLAGS) $(PLAIN_CFLAGS) -fvisibility=hidden \
	-fno-omit-frame-pointer

libccltap_la_SOURCES = \
	$(COMMON_SOURCES) \
	src/intercept/ccl_rest.c \
	src/intercept/ccl_threads.c src/intercept/ccl_threads.h \
	src/intercept/close.c \
	src/intercept/cuda/capture.c src/intercept/cuda/capture.h \
	src/intercept/cuda/cuda.c src/intercept/cuda/cuda.h \
	src/intercept/cuda/cuda_call.c \
	src/intercept/cuda/functions.c src/intercept/cuda/functions.h \
	src/intercept/cuda/getproc.c src/intercept/cuda/getproc.h \
	src/intercept/cuda/nccl_args.c src/intercept/cuda/nccl_args.h \
	src/intercept/cuda/runtime.c \
	src/intercept/descriptors.c \
	src/intercept/dl/libraries.c src/intercept/dl/libraries.h \
	src/intercept/dl/nccl_at.c src/intercept/dl/nccl_at.h \
	src/intercept/dl/nccl_version.c src/intercept/dl/nccl_version.h \
	src/intercept/dl/walk.c src/intercept/dl/walk.h \
	src/intercept/entry.c src/intercept/entry.h \
	src/intercept/environment.c \
	src/intercept/guard.c src/intercept/guard.h \
	src/intercept/layer.h src/intercept/layers.c \
	src/intercept/metrics.c src/intercept/metrics.h \
	src/intercept/leave.c \
	src/intercept/nccl/bypass.c \
	src/intercept/nccl/comm.c src/intercept/nccl/comm.h \
	src/intercept/nccl/group.c src/intercept/nccl/group.h \
	src/intercept/nccl/hooks.c src/intercept/nccl/hooks.h \
	src/intercept/nccl/nccl.c \
	src/intercept/nccl/nccl_wrap.h \
	src/intercept/net/met.c src/intercept/net/moved.c \
	src/intercept/net/net.c src/intercept/net/net.h \
	src/intercept/net/service.c src/intercept/net/service.h \
	src/intercept/net/sockets.c src/intercept/net/sockets.h \
	src/intercept/net/stream.c src/intercept/net/stream.h \
	src/intercept/nvtx/nvtx.c src/intercept/nvtx/nvtx.h \
	src/intercept/nvtx/nvtx_abi.h \
	src/intercept/nvtx/nvtx_call.c \
	src/intercept/nvtx/nvtx_range.c \
	src/intercept/nvtx/nvtx_schema.c src/intercept/nvtx/nvtx_schema.h \
	src/intercept/nvtx/nvtx_stack.c src/intercept/nvtx/nvtx_stack.h \
	src/intercept/own_fd.c src/intercept/own_fd.h \
	src/intercept/process.c \
	src/intercept/decode.c src/intercept/decode.h \
	src/intercept/recorder.c src/intercept/recorder.h \
	src/intercept/resolve.c src/intercept/resolve.h \
	src/intercept/stack/cfi.c src/intercept/stack/cfi.h \
	src/intercept/stack/stack.c src/intercept/stack/stack.h \
	src/intercept/sample.c src/intercept/sample.h \
	src/intercept/start.c src/intercept/start.h \
	src/intercept/statedump.c src/intercept/statedump.h \
	src/intercept/thread_state.c src/intercept/thread_state.h \
	src/intercept/threads.c src/intercept/threads.h \
	src/intercept/trace.c src/intercept/trace.h \
	src/intercept/watchdog.c \
	src/intercept/wrap.h \
	$(CUPTI_SOURCES) \
	$(VERBS_SOURCES)
libccltap_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -fno-omit-frame-pointer
libccltap_la_LIBADD = libccltap-lookup.la
libccltap_la_LDFLAGS = $(MODULE_LDFLAGS) -Wl,--version-script=src/intercept/libccltap.map
EXTRA_libccltap_la_DEPENDENCIES = src/intercept/libccltap.map
CLEANFILES += src/intercept/libccltap.map

# The calls carry a version that dlsym() passes over (nccl_wrap.h); those of libibverbs, HIP,
# CUPTI and the CUDA runtime, which have several, each its own.  libc's functions are
# not named here: ours stand in for every version of theirs; nor are those that NVTX
# looks up.
src/intercept/libccltap.map: list-calls$(EXEEXT) $(top_srcdir)/src/intercept/local.mk
	$(AM_V_GEN)mkdir -p src/intercept && { \
		echo 'CCLTAP_0 { global:' && { $(EMULATOR) ./list-calls$(EXEEXT) --exports && $(EMULATOR) ./list-calls$(EXEEXT) --cuda | sed 's/ .*//'; } | sed 's/.*/	&;/' && echo 'local:' && echo '	tap_linked_*;' && echo '	tap_verbs_*;' && echo '	tap_runtime_*;' && echo '	tap_cupti_*;' && echo '	tap_libc_*;' && echo '};' && \
		{ $(EMULATOR) ./list-calls$(EXEEXT) --versions && $(EMULATOR) ./list-calls$(EXEEXT) --hip && $(EMULATOR) ./list-calls$(EXEEXT) --runtime && $(EMULATOR) ./list-calls$(EXEEXT) --cupti; } | $(AWK) '{ of[$$2] = of[$$2] " " $$1 ";" } \
			END { of["$(COND_WAIT_VERSION)"] = " pthread_cond_wait;"; for (v in of) print v " { global:" of[v] " };" }'; \
	} > $@.tmp && mv $@.tmp $@
