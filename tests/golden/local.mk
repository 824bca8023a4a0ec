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
tests_golden_fuzz_SOURCES = tests/golden/fuzz.c tests/golden/graph.c tests/golden/graph.h \
	tests/golden/views.c tests/golden/views.h
tests_golden_fuzz_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE -I$(top_srcdir)/tests \
	-DTAP_PAGE_FOLDER='"$(abs_top_srcdir)/share/ccltap/page"' $(BABELTRACE2_CFLAGS)
tests_golden_fuzz_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_golden_fuzz_LDADD = $(BABELTRACE2_LIBS)

# What scripts/fuzz runs; the plugin's counters are in the program that loads it.
if FUZZER
check_PROGRAMS += tests/golden/fuzz_events
endif
tests_golden_fuzz_events_SOURCES = tests/golden/fuzz_events.c tests/golden/graph.c \
	tests/golden/graph.h tests/golden/views.c tests/golden/views.h
tests_golden_fuzz_events_CPPFLAGS = $(tests_golden_fuzz_CPPFLAGS)
tests_golden_fuzz_events_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_golden_fuzz_events_LDFLAGS = -fsanitize=fuzzer -Wl,--export-dynamic
tests_golden_fuzz_events_LDADD = $(BABELTRACE2_LIBS)

GOLDEN_CASES = \
	tests/golden/traces/ascribed \
	tests/golden/traces/ascribed-ambiguous \
	tests/golden/traces/ascribed-bytes \
	tests/golden/traces/ascribed-bytes-earlier \
	tests/golden/traces/ascribed-bytes-larger \
	tests/golden/traces/ascribed-bytes-open \
	tests/golden/traces/ascribed-bytes-sends \
	tests/golden/traces/ascribed-bytes-two \
	tests/golden/traces/ascribed-contradicted \
	tests/golden/traces/ascribed-copies \
	tests/golden/traces/ascribed-fused \
	tests/golden/traces/ascribed-graph \
	tests/golden/traces/ascribed-occasion \
	tests/golden/traces/ascribed-replay \
	tests/golden/traces/ascribed-ring-group \
	tests/golden/traces/ascribed-ring-name \
	tests/golden/traces/ascribed-shared \
	tests/golden/traces/ascribed-unobserved \
	tests/golden/traces/audit \
	tests/golden/traces/audit-clean \
	tests/golden/traces/audit-lost \
	tests/golden/traces/audit-running \
	tests/golden/traces/begin-lost \
	tests/golden/traces/callers \
	tests/golden/traces/clock-collectives \
	tests/golden/traces/clock-messages \
	tests/golden/traces/comm \
	tests/golden/traces/comm-absent \
	tests/golden/traces/comm-alias \
	tests/golden/traces/comm-ambiguous \
	tests/golden/traces/comm-bound \
	tests/golden/traces/comm-garbage \
	tests/golden/traces/comm-group \
	tests/golden/traces/comm-hung \
	tests/golden/traces/comm-init-all \
	tests/golden/traces/comm-late \
	tests/golden/traces/comm-missing \
	tests/golden/traces/comm-mismatch \
	tests/golden/traces/comm-reuse \
	tests/golden/traces/complete-launched \
	tests/golden/traces/complete-mixed \
	tests/golden/traces/complete-whole \
	tests/golden/traces/cuda \
	tests/golden/traces/cuda-args \
	tests/golden/traces/cuda-copy-engine \
	tests/golden/traces/cuda-discarded \
	tests/golden/traces/cuda-garbage \
	tests/golden/traces/cuda-graph \
	tests/golden/traces/cuda-hip \
	tests/golden/traces/cuda-hip-launch \
	tests/golden/traces/cuda-late \
	tests/golden/traces/cuda-open \
	tests/golden/traces/cuda-unknown \
	tests/golden/traces/discarded \
	tests/golden/traces/end-lost \
	tests/golden/traces/error-string \
	tests/golden/traces/exec \
	tests/golden/traces/flight \
	tests/golden/traces/fork \
	tests/golden/traces/garbage \
	tests/golden/traces/gpu \
	tests/golden/traces/gpu-bound \
	tests/golden/traces/gpu-copy \
	tests/golden/traces/gpu-garbage \
	tests/golden/traces/gpu-graph \
	tests/golden/traces/gpu-group \
	tests/golden/traces/gpu-owner \
	tests/golden/traces/gpu-reuse \
	tests/golden/traces/gpu-twice \
	tests/golden/traces/library-again \
	tests/golden/traces/mixed-clocks \
	tests/golden/traces/nccl-threads \
	tests/golden/traces/nccl-threads-group \
	tests/golden/traces/nesting \
	tests/golden/traces/net-adaptive \
	tests/golden/traces/net-asking \
	tests/golden/traces/net-base \
	tests/golden/traces/net-bound \
	tests/golden/traces/net-buffers \
	tests/golden/traces/net-buffers-own \
	tests/golden/traces/net-buffers-sends \
	tests/golden/traces/net-buffers-sends-ll \
	tests/golden/traces/net-buffers-unlike \
	tests/golden/traces/net-by-id \
	tests/golden/traces/net-first-lost \
	tests/golden/traces/net-flush \
	tests/golden/traces/net-flush-later \
	tests/golden/traces/net-groups \
	tests/golden/traces/net-groups-apart \
	tests/golden/traces/net-groups-early \
	tests/golden/traces/net-node \
	tests/golden/traces/net-hosts \
	tests/golden/traces/net-late \
	tests/golden/traces/net-generations \
	tests/golden/traces/net-lost \
	tests/golden/traces/net-merged \
	tests/golden/traces/net-merged-old \
	tests/golden/traces/net-old \
	tests/golden/traces/net-old-groups \
	tests/golden/traces/net-one-process \
	tests/golden/traces/net-preposted \
	tests/golden/traces/net-preposted-early \
	tests/golden/traces/net-preposted-two \
	tests/golden/traces/net-preposted-unfit \
	tests/golden/traces/net-qps \
	tests/golden/traces/net-shared \
	tests/golden/traces/net-shared-accepted \
	tests/golden/traces/net-shared-answered \
	tests/golden/traces/net-shared-asked \
	tests/golden/traces/net-shared-asked-own \
	tests/golden/traces/net-shared-elsewhere \
	tests/golden/traces/net-shared-empties \
	tests/golden/traces/net-shared-empties-first \
	tests/golden/traces/net-shared-empty \
	tests/golden/traces/net-shared-empty-back \
	tests/golden/traces/net-shared-empty-before \
	tests/golden/traces/net-shared-empty-mixed \
	tests/golden/traces/net-shared-empty-next \
	tests/golden/traces/net-shared-jobs \
	tests/golden/traces/net-shared-jobs-again \
	tests/golden/traces/net-sockets \
	tests/golden/traces/net-sockets-bare \
	tests/golden/traces/net-sockets-channels \
	tests/golden/traces/net-sockets-fewer \
	tests/golden/traces/net-sockets-frames \
	tests/golden/traces/net-sockets-inferred \
	tests/golden/traces/net-sockets-misread \
	tests/golden/traces/net-sockets-order \
	tests/golden/traces/net-sockets-port \
	tests/golden/traces/net-sockets-split \
	tests/golden/traces/net-sockets-trees \
	tests/golden/traces/net-sockets-trees-group \
	tests/golden/traces/net-sockets-trees-short \
	tests/golden/traces/net-split \
	tests/golden/traces/net-stranger \
	tests/golden/traces/net-swapped \
	tests/golden/traces/net-unfit \
	tests/golden/traces/no-contexts \
	tests/golden/traces/not-returned \
	tests/golden/traces/nvtx \
	tests/golden/traces/open-entry \
	tests/golden/traces/open-none \
	tests/golden/traces/open-state \
	tests/golden/traces/polls \
	tests/golden/traces/proxy-ctrl \
	tests/golden/traces/relay-gaps \
	tests/golden/traces/roles \
	tests/golden/traces/samples \
	tests/golden/traces/simple \
	tests/golden/traces/stacks \
	tests/golden/traces/too-many-open \
	tests/golden/traces/tree \
	tests/golden/traces/tree-group \
	tests/golden/traces/tree-verbs \
	tests/golden/traces/tree-verbs-early \
	tests/golden/traces/two-hosts \
	tests/golden/traces/unknown \
	tests/golden/traces/values \
	tests/golden/traces/why-chain \
	tests/golden/traces/why-clear \
	tests/golden/traces/why-cycle \
	tests/golden/traces/why-device \
	tests/golden/traces/why-exited \
	tests/golden/traces/why-failed \
	tests/golden/traces/why-failed-cuda \
	tests/golden/traces/why-failed-expected \
	tests/golden/traces/why-function \
	tests/golden/traces/why-gone \
	tests/golden/traces/why-gone-other \
	tests/golden/traces/why-gone-split \
	tests/golden/traces/why-init \
	tests/golden/traces/why-init-behind \
	tests/golden/traces/why-init-clear \
	tests/golden/traces/why-init-polled \
	tests/golden/traces/why-late \
	tests/golden/traces/why-late-calls \
	tests/golden/traces/why-late-clear \
	tests/golden/traces/why-late-few \
	tests/golden/traces/why-late-gpu \
	tests/golden/traces/why-late-once \
	tests/golden/traces/why-late-period \
	tests/golden/traces/why-lost \
	tests/golden/traces/why-missing \
	tests/golden/traces/why-order \
	tests/golden/traces/why-pair \
	tests/golden/traces/why-pair-split \
	tests/golden/traces/why-pair-behind \
	tests/golden/traces/why-pair-size \
	tests/golden/traces/why-pair-skipped \
	tests/golden/traces/why-queue \
	tests/golden/traces/why-reached-late \
	tests/golden/traces/why-redop \
	tests/golden/traces/why-root \
	tests/golden/traces/why-same \
	tests/golden/traces/why-shrink \
	tests/golden/traces/why-size \
	tests/golden/traces/why-split \
	tests/golden/traces/why-stuck-call \
	tests/golden/traces/why-stuck-clear \
	tests/golden/traces/why-stuck-kernel tests/golden/traces/why-stuck-poll \
	tests/golden/traces/why-stuck-proxy \
	tests/golden/traces/why-stuck-receiver tests/golden/traces/why-stuck-sender \
	tests/golden/traces/why-stuck-wait tests/golden/traces/why-stuck-wire \
	tests/golden/traces/why-type \
	tests/golden/traces/why-young \
	tests/golden/traces/window \
	tests/golden/traces/wire-bound \
	tests/golden/traces/wire-errors \
	tests/golden/traces/wire-errors-alike \
	tests/golden/traces/wire-garbage \
	tests/golden/traces/wire-hosts \
	tests/golden/traces/wire-late \
	tests/golden/traces/wire-generations \
	tests/golden/traces/wire-lost \
	tests/golden/traces/wire-one-cq \
	tests/golden/traces/wire-poll-sent \
	tests/golden/traces/wire-concurrent \
	tests/golden/traces/wire-rc \
	tests/golden/traces/wire-srq \
	tests/golden/traces/wire-srq-alike \
	tests/golden/traces/wire-srq-order \
	tests/golden/traces/wire-stranger \
	tests/golden/traces/wire-two-devices \
	tests/golden/traces/wire-uc \
	tests/golden/traces/wire-uc-whole \
	tests/golden/traces/wire-ud \
	tests/golden/traces/wire-ud-late \
	tests/golden/traces/wire-ud-loss \
	tests/golden/traces/wire-ud-number \
	tests/golden/traces/wire-unsignaled \
	tests/golden/traces/wire-unsignaled-lost

# What Trace Compass draws of some.
GOLDEN_ROWS = \
	tests/golden/traces/begin-lost.rows \
	tests/golden/traces/comm.rows \
	tests/golden/traces/cuda.rows \
	tests/golden/traces/end-lost.rows \
	tests/golden/traces/gpu.rows \
	tests/golden/traces/gpu-graph.rows \
	tests/golden/traces/nesting.rows \
	tests/golden/traces/net-groups.rows \
	tests/golden/traces/not-returned.rows \
	tests/golden/traces/nvtx.rows \
	tests/golden/traces/proxy-ctrl.rows \
	tests/golden/traces/tree.rows \
	tests/golden/traces/two-hosts.rows

# The tables of some.
GOLDEN_TABLES = \
	tests/golden/traces/columns.tables \
	tests/golden/traces/comm.tables \
	tests/golden/traces/gpu.tables \
	tests/golden/traces/halves.tables \
	tests/golden/traces/net-sockets.tables \
	tests/golden/traces/samples.tables \
	tests/golden/traces/why-missing.tables \
	tests/golden/traces/wire-hosts.tables

dist_check_SCRIPTS += tests/golden/test_export.sh tests/golden/test_query.sh tests/golden/test_attribution.sh tests/golden/test_golden.sh tests/golden/test_command.sh \
	tests/golden/test_terminal.sh \
	tests/golden/test_derived.sh \
	tests/golden/test_perfetto.sh tests/golden/test_trace_events.sh tests/golden/test_merge.sh \
	tests/golden/test_filters.sh \
	tests/golden/test_page.sh tests/golden/test_browser.sh tests/golden/test_view.sh \
	tests/golden/test_damaged.sh
GOLDEN_TESTS = tests/golden/test_export.sh tests/golden/test_query.sh tests/golden/test_attribution.sh tests/golden/test_golden.sh tests/golden/test_command.sh \
	tests/golden/test_derived.sh \
	tests/golden/test_perfetto.sh tests/golden/test_trace_events.sh tests/golden/test_merge.sh tests/golden/test_filters.sh \
	tests/golden/test_terminal.sh tests/golden/test_page.sh \
	tests/golden/test_damaged.sh tests/golden/fuzz
# What the browser does with a page needs no sanitizers.
TESTS += $(GOLDEN_TESTS) tests/golden/test_browser.sh tests/golden/test_view.sh
EXTRA_DIST += $(GOLDEN_CASES:=.events) $(GOLDEN_CASES:=.expect) $(GOLDEN_ROWS) \
	$(GOLDEN_TABLES) tests/golden/tables.py tests/golden/spread.awk tests/golden/spark.py tests/golden/traces/filters.shown tests/golden/filters.py tests/golden/attribution.py \
	tests/golden/page.inc.sh tests/golden/page.py tests/golden/page_hashes.py tests/golden/browser.py \
	tests/golden/page_picture.py tests/golden/merge.py tests/golden/view.py \
	tests/golden/fuzz_traces.py tests/golden/fuzz-seed.tar.xz

# What scripts/check runs once more under sanitizers.
.PHONY: print-reader-tests
print-reader-tests:
	@echo $(UNIT_TESTS) $(GOLDEN_TESTS) $(STACK_TESTS)
