# SPDX-License-Identifier: MIT
# The reader from end to end: texts of events through babeltrace2 into each view.

check_LTLIBRARIES += tests/golden/babeltrace-plugin-ccltaptest.la
tests_golden_babeltrace_plugin_ccltaptest_la_SOURCES = tests/golden/source.c
tests_golden_babeltrace_plugin_ccltaptest_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE \
	$(BABELTRACE2_CFLAGS)
tests_golden_babeltrace_plugin_ccltaptest_la_CFLAGS = $(AM_CFLAGS)
# Without a directory to be installed in, libtool makes no shared object.
tests_golden_babeltrace_plugin_ccltaptest_la_LDFLAGS = -module -avoid-version -shared \
	-rpath /nowhere
tests_golden_babeltrace_plugin_ccltaptest_la_LIBADD = $(BABELTRACE2_LIBS)

check_PROGRAMS += tests/golden/convert tests/golden/fuzz
tests_golden_convert_SOURCES = tests/golden/convert.c tests/golden/graph.c \
	tests/golden/graph.h
tests_golden_convert_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests $(BABELTRACE2_CFLAGS)
tests_golden_convert_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_golden_convert_LDADD = $(BABELTRACE2_LIBS)
tests_golden_fuzz_SOURCES = tests/golden/fuzz.c tests/golden/graph.c tests/golden/graph.h
tests_golden_fuzz_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE -I$(top_srcdir)/tests \
	$(BABELTRACE2_CFLAGS)
tests_golden_fuzz_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_golden_fuzz_LDADD = $(BABELTRACE2_LIBS)

GOLDEN_CASES = \
	tests/golden/begin-lost \
	tests/golden/callers \
	tests/golden/comm \
	tests/golden/comm-absent \
	tests/golden/comm-alias \
	tests/golden/comm-ambiguous \
	tests/golden/comm-bound \
	tests/golden/comm-garbage \
	tests/golden/comm-group \
	tests/golden/comm-hung \
	tests/golden/comm-init-all \
	tests/golden/comm-late \
	tests/golden/comm-missing \
	tests/golden/comm-mismatch \
	tests/golden/comm-reuse \
	tests/golden/cuda \
	tests/golden/cuda-args \
	tests/golden/cuda-copy-engine \
	tests/golden/cuda-discarded \
	tests/golden/cuda-garbage \
	tests/golden/cuda-graph \
	tests/golden/cuda-hip \
	tests/golden/cuda-hip-launch \
	tests/golden/cuda-late \
	tests/golden/cuda-open \
	tests/golden/cuda-unknown \
	tests/golden/discarded \
	tests/golden/end-lost \
	tests/golden/error-string \
	tests/golden/exec \
	tests/golden/flight \
	tests/golden/fork \
	tests/golden/garbage \
	tests/golden/gpu \
	tests/golden/gpu-bound \
	tests/golden/gpu-copy \
	tests/golden/gpu-garbage \
	tests/golden/gpu-graph \
	tests/golden/gpu-group \
	tests/golden/gpu-owner \
	tests/golden/gpu-reuse \
	tests/golden/library-again \
	tests/golden/nesting \
	tests/golden/net-adaptive \
	tests/golden/net-base \
	tests/golden/net-bound \
	tests/golden/net-by-id \
	tests/golden/net-first-lost \
	tests/golden/net-flush \
	tests/golden/net-flush-later \
	tests/golden/net-groups \
	tests/golden/net-groups-apart \
	tests/golden/net-groups-early \
	tests/golden/net-hosts \
	tests/golden/net-late \
	tests/golden/net-lives \
	tests/golden/net-lost \
	tests/golden/net-merged \
	tests/golden/net-old \
	tests/golden/net-old-groups \
	tests/golden/net-preposted \
	tests/golden/net-preposted-early \
	tests/golden/net-preposted-two \
	tests/golden/net-preposted-unfit \
	tests/golden/net-qps \
	tests/golden/net-split \
	tests/golden/net-stranger \
	tests/golden/net-swapped \
	tests/golden/net-unfit \
	tests/golden/no-contexts \
	tests/golden/not-returned \
	tests/golden/nvtx \
	tests/golden/open-entry \
	tests/golden/open-none \
	tests/golden/open-state \
	tests/golden/roles \
	tests/golden/simple \
	tests/golden/stacks \
	tests/golden/too-many-open \
	tests/golden/two-hosts \
	tests/golden/unknown \
	tests/golden/values \
	tests/golden/window \
	tests/golden/wire-bound \
	tests/golden/wire-errors \
	tests/golden/wire-errors-alike \
	tests/golden/wire-garbage \
	tests/golden/wire-hosts \
	tests/golden/wire-late \
	tests/golden/wire-lives \
	tests/golden/wire-lost \
	tests/golden/wire-one-cq \
	tests/golden/wire-raced \
	tests/golden/wire-rc \
	tests/golden/wire-srq \
	tests/golden/wire-srq-alike \
	tests/golden/wire-srq-order \
	tests/golden/wire-stranger \
	tests/golden/wire-two-devices \
	tests/golden/wire-uc \
	tests/golden/wire-uc-whole \
	tests/golden/wire-ud \
	tests/golden/wire-ud-late \
	tests/golden/wire-ud-loss \
	tests/golden/wire-ud-number \
	tests/golden/wire-unsignaled \
	tests/golden/wire-unsignaled-lost

# What Trace Compass draws of some.
GOLDEN_ROWS = \
	tests/golden/begin-lost.rows \
	tests/golden/comm.rows \
	tests/golden/cuda.rows \
	tests/golden/end-lost.rows \
	tests/golden/gpu.rows \
	tests/golden/gpu-graph.rows \
	tests/golden/nesting.rows \
	tests/golden/net-groups.rows \
	tests/golden/not-returned.rows \
	tests/golden/nvtx.rows \
	tests/golden/two-hosts.rows

dist_check_SCRIPTS += tests/golden/golden.sh tests/golden/command.sh tests/golden/derived.sh \
	tests/golden/damaged.sh
GOLDEN_TESTS = tests/golden/golden.sh tests/golden/command.sh tests/golden/derived.sh \
	tests/golden/damaged.sh tests/golden/fuzz
TESTS += $(GOLDEN_TESTS)
EXTRA_DIST += $(GOLDEN_CASES:=.events) $(GOLDEN_CASES:=.expect) $(GOLDEN_ROWS) \
	tests/golden/fuzz_traces.py tests/golden/fuzz-seed.tar.xz

# What scripts/check runs once more under sanitizers.
.PHONY: print-reader-tests
print-reader-tests:
	@echo $(UNIT_TESTS) $(GOLDEN_TESTS) $(STACK_TESTS)
