# SPDX-License-Identifier: MIT
# The rows against what libraries export, what headers declare, and themselves.

tap_calls_shell = tests/calls/test_abi.sh tests/calls/test_calls_md.sh \
	tests/calls/test_cuda.sh tests/calls/test_cupti.sh tests/calls/test_coverage.sh \
	tests/calls/test_every_call.sh tests/calls/test_every_cuda.sh \
	tests/calls/test_every_hip.sh tests/calls/test_headers.sh \
	tests/calls/test_nvtx.sh tests/calls/test_verbs.sh tests/calls/test_wild.sh
tap_calls_made = tests/calls/doubles/libnccl.so.2 tests/calls/programs/every_call \
	tests/calls/doubles/libcuda.so.1 tests/calls/programs/every_cuda \
	tests/calls/doubles/libamdhip64.so.6 tests/calls/programs/every_hip \
	tests/calls/doubles/verbs/libibverbs.so.1 tests/calls/programs/every_verb \
	tests/calls/programs/wild_nccl tests/calls/programs/wild_cuda \
	tests/calls/programs/wild_hip tests/calls/programs/wild_verbs

check_PROGRAMS += tests/calls/test_kinds
tests_calls_test_kinds_SOURCES = tests/calls/test_kinds.c tests/calls/guarded.h \
	tests/calls/unasked_read.h tests/lib/tap.h
tests_calls_test_kinds_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_DATA += $(tap_calls_made)
CLEANFILES += $(tap_calls_made) tests/calls/doubles/verbs/map
EXTRA_DIST += $(tap_calls_shell) tests/calls/programs/check_abi.c \
	tests/calls/programs/check_nvtx.c tests/calls/doubles/nccl.c \
	tests/calls/doubles/nccl.h tests/calls/programs/every_call.c tests/calls/exports \
	tests/calls/programs/check_verbs.c tests/calls/doubles/verbs.c \
	tests/calls/doubles/verbs.h tests/calls/programs/every_verb.c \
	tests/calls/every.inc.sh tests/calls/doubles/cuda.c tests/calls/doubles/cuda.h \
	tests/calls/programs/every_cuda.c tests/calls/programs/check_cuda.c \
	tests/calls/programs/check_cudart.c tests/calls/programs/cuda_layouts.c \
	tests/calls/programs/check_cupti.c tests/calls/programs/stock_runtime.c \
	tests/calls/programs/wild.c
TESTS += tests/calls/test_kinds $(tap_calls_shell)

# Plain files, as in tests/link.
tap_calls_rows = src/calls/nccl.def src/calls/kinds.h src/calls/nccl_calls.h \
	src/calls/nccl_enums.h src/calls/nccl_types.h tests/calls/doubles/nccl.h
tap_calls_compile = $(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS)

tests/calls/doubles/libnccl.so.2: tests/calls/doubles/nccl.c $(tap_calls_rows)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_calls_compile) -fPIC -shared \
		-Wl,-soname,libnccl.so.2 -o $@ $(srcdir)/tests/calls/doubles/nccl.c
tests/calls/programs/every_call: tests/calls/programs/every_call.c tests/calls/guarded.h \
		tests/calls/unasked_read.h \
		tests/calls/doubles/libnccl.so.2 $(tap_calls_rows)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_calls_compile) -o $@ \
		$(srcdir)/tests/calls/programs/every_call.c \
		-Ltests/calls/doubles -l:libnccl.so.2 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles'

tap_verbs_rows = src/calls/verbs.def src/calls/verbs_calls.h tests/calls/doubles/verbs.h
# Each version is a node of its own, as in the real one, and the last has what the test reads.
tests/calls/doubles/verbs/map: list-calls$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(EMULATOR) ./list-calls --versions | \
		awk '{ of[$$2] = of[$$2] " " $$1 ";" } \
			END { for (node in of) print node " { global:" of[node] " };"; \
				print "DOUBLE { global: double_fails; double_device; \
		double_context; " \
					"*_seen; *_object; local: *; };" }' >$@
tests/calls/doubles/verbs/libibverbs.so.1: tests/calls/doubles/verbs.c \
		tests/calls/doubles/verbs/map $(tap_verbs_rows)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_calls_compile) -fPIC -shared \
		-Wl,-soname,libibverbs.so.1 \
		-Wl,--version-script=tests/calls/doubles/verbs/map -o $@ \
		$(srcdir)/tests/calls/doubles/verbs.c
tests/calls/programs/every_verb: tests/calls/programs/every_verb.c tests/calls/guarded.h \
		tests/calls/doubles/verbs/libibverbs.so.1 $(tap_verbs_rows)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_calls_compile) -o $@ \
		$(srcdir)/tests/calls/programs/every_verb.c \
		-Ltests/calls/doubles/verbs -l:libibverbs.so.1

tap_cuda_rows = src/calls/cuda.def src/calls/cuda_api.h src/calls/cuda_calls.h src/calls/cuda_kinds.h \
	src/calls/cuda_types.h src/calls/kinds.h tests/calls/doubles/cuda.h
tests/calls/doubles/libcuda.so.1: tests/calls/doubles/cuda.c $(tap_cuda_rows)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_calls_compile) -fPIC -shared \
		-Wl,-soname,libcuda.so.1 -o $@ $(srcdir)/tests/calls/doubles/cuda.c
tests/calls/programs/every_cuda: tests/calls/programs/every_cuda.c tests/calls/guarded.h \
		tests/calls/doubles/libcuda.so.1 $(tap_cuda_rows)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_calls_compile) -o $@ \
		$(srcdir)/tests/calls/programs/every_cuda.c \
		-Ltests/calls/doubles -l:libcuda.so.1 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles'

# Each version is a node of its own, as in the real one.
tap_hip_rows = $(tap_cuda_rows) src/calls/hip.def src/calls/hip_types.h
tests/calls/doubles/hip.map: list-calls$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(EMULATOR) ./list-calls --hip | \
		awk '{ of[$$2] = of[$$2] " " $$1 ";" } \
			END { for (node in of) print node " { global:" of[node] " };" }' \
		>$@
tests/calls/doubles/libamdhip64.so.6: tests/calls/doubles/cuda.c \
		tests/calls/doubles/hip.map $(tap_hip_rows)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_calls_compile) -DTAP_HIP -fPIC -shared \
		-Wl,-soname,libamdhip64.so.6 \
		-Wl,--version-script=tests/calls/doubles/hip.map -o $@ \
		$(srcdir)/tests/calls/doubles/cuda.c
tests/calls/programs/every_hip: tests/calls/programs/every_cuda.c tests/calls/guarded.h \
		tests/calls/doubles/libamdhip64.so.6 $(tap_hip_rows)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_calls_compile) -DTAP_HIP -o $@ \
		$(srcdir)/tests/calls/programs/every_cuda.c \
		-Ltests/calls/doubles -l:libamdhip64.so.6 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles'
CLEANFILES += tests/calls/doubles/hip.map

tap_wild = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_calls_compile) -o $@ \
	$(srcdir)/tests/calls/programs/wild.c -Ltests/calls/doubles \
	-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles'
tests/calls/programs/wild_nccl: tests/calls/programs/wild.c tests/calls/guarded.h \
		tests/calls/doubles/libnccl.so.2 \
		$(tap_calls_rows)
	$(tap_wild) -l:libnccl.so.2
tests/calls/programs/wild_cuda: tests/calls/programs/wild.c tests/calls/guarded.h \
		tests/calls/doubles/libcuda.so.1 \
		$(tap_cuda_rows)
	$(tap_wild) -DTAP_CUDA -l:libcuda.so.1
tests/calls/programs/wild_hip: tests/calls/programs/wild.c tests/calls/guarded.h \
		tests/calls/doubles/libamdhip64.so.6 $(tap_hip_rows)
	$(tap_wild) -DTAP_CUDA -DTAP_HIP -l:libamdhip64.so.6
tests/calls/programs/wild_verbs: tests/calls/programs/wild.c tests/calls/guarded.h \
		tests/calls/doubles/verbs/libibverbs.so.1 $(tap_verbs_rows)
	$(tap_wild)/verbs -DTAP_VERBS -Ltests/calls/doubles/verbs -l:libibverbs.so.1
