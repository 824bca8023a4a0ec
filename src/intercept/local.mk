# SPDX-License-Identifier: MIT
# libccltap.so: what is preloaded.  libc alone, no descriptor, and no thread until a call
# is recorded.

lib_LTLIBRARIES += libccltap.la
noinst_LTLIBRARIES += libccltap-lookup.la

# These run while sanitizers and libc itself are not ready: no call may be made
# out of them that the source does not show.
libccltap_lookup_la_SOURCES = \
	src/intercept/dlsym.S \
	src/intercept/elf.c src/intercept/elf.h \
	src/intercept/lookup.c src/intercept/lookup.h
libccltap_lookup_la_CFLAGS = $(AM_CFLAGS) $(PLAIN_CFLAGS) -fvisibility=hidden \
	-fno-omit-frame-pointer

libccltap_la_SOURCES = \
	$(COMMON_SOURCES) \
	src/intercept/capture.c src/intercept/capture.h \
	src/intercept/cfi.c src/intercept/cfi.h \
	src/intercept/close.c \
	src/intercept/comm.c src/intercept/comm.h \
	src/intercept/cuda.c src/intercept/cuda.h src/intercept/cuda_call.c \
	src/intercept/descriptors.c \
	src/intercept/entry.c src/intercept/entry.h \
	src/intercept/functions.c src/intercept/functions.h \
	src/intercept/getproc.c src/intercept/getproc.h \
	src/intercept/group.c src/intercept/group.h \
	src/intercept/hooks.c src/intercept/hooks.h \
	src/intercept/housekeeping.c src/intercept/housekeeping.h \
	src/intercept/leave.c \
	src/intercept/libraries.c src/intercept/libraries.h \
	src/intercept/nccl.c src/intercept/wrap.h \
	src/intercept/nccl_args.c src/intercept/nccl_args.h \
	src/intercept/nccl_version.c src/intercept/nccl_version.h \
	src/intercept/nvtx.c src/intercept/nvtx.h src/intercept/nvtx_abi.h \
	src/intercept/nvtx_call.c src/intercept/nvtx_range.c \
	src/intercept/nvtx_schema.c src/intercept/nvtx_schema.h \
	src/intercept/nvtx_stack.c src/intercept/nvtx_stack.h \
	src/intercept/process.c src/intercept/process.h \
	src/intercept/recorder.c src/intercept/recorder.h \
	src/intercept/resolve.c src/intercept/resolve.h \
	src/intercept/runtime.c \
	src/intercept/stack.c src/intercept/stack.h \
	src/intercept/start.c src/intercept/start.h \
	src/intercept/state.c src/intercept/state.h \
	src/intercept/threads.c src/intercept/threads.h \
	src/intercept/unseen.c src/intercept/unseen.h \
	src/intercept/walk.c src/intercept/walk.h \
	$(CUPTI_SOURCES) \
	$(VERBS_SOURCES)
libccltap_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -fno-omit-frame-pointer
libccltap_la_LIBADD = libccltap-lookup.la
libccltap_la_LDFLAGS = $(MODULE_LDFLAGS) -Wl,--version-script=src/intercept/libccltap.map
EXTRA_libccltap_la_DEPENDENCIES = src/intercept/libccltap.map
CLEANFILES += src/intercept/libccltap.map

# The calls carry a version that dlsym() passes over (wrap.h); those of libibverbs, HIP,
# CUPTI and the CUDA runtime, which have several, each its own.  libc's functions are
# not named here: ours stand in for every version of theirs; nor are those that NVTX
# looks up.
src/intercept/libccltap.map: list-calls$(EXEEXT)
	$(AM_V_GEN)mkdir -p src/intercept && { \
		echo 'CCLTAP_0 { global:' && { ./list-calls$(EXEEXT) --exports && ./list-calls$(EXEEXT) --cuda | sed 's/ .*//'; } | sed 's/.*/	&;/' && echo 'local:' && echo '	tap_linked_*;' && echo '	tap_verbs_*;' && echo '	tap_runtime_*;' && echo '	tap_cupti_*;' && echo '};' && \
		{ ./list-calls$(EXEEXT) --versions && ./list-calls$(EXEEXT) --hip && ./list-calls$(EXEEXT) --runtime && ./list-calls$(EXEEXT) --cupti; } | $(AWK) '{ of[$$2] = of[$$2] " " $$1 ";" } \
			END { for (v in of) print v " { global:" of[v] " };" }'; \
	} > $@.tmp && mv $@.tmp $@
