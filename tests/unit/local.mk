# SPDX-License-Identifier: MIT
# The core of the join, without babeltrace2, and what of the traced side can stand alone.

check_PROGRAMS += tests/unit/test_collective tests/unit/test_join tests/unit/test_lane tests/unit/test_late tests/unit/test_link \
	tests/unit/test_net tests/unit/test_shared tests/unit/test_symbol \
	tests/unit/test_wire tests/unit/fuzz_join
tests_unit_test_join_SOURCES = tests/unit/test_join.c tests/unit/draw.h tests/unit/tap.h
tests_unit_test_join_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_join_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_join_LDADD = src/join/libjoin.la
tests_unit_test_collective_SOURCES = tests/unit/test_collective.c tests/unit/draw.h \
	tests/unit/tap.h
tests_unit_test_collective_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_collective_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_collective_LDADD = src/join/libjoin.la
tests_unit_test_late_SOURCES = tests/unit/test_late.c tests/unit/draw.h tests/unit/tap.h
tests_unit_test_late_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE -I$(top_srcdir)/tests
tests_unit_test_late_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_late_LDADD = src/join/libjoin.la -lm
tests_unit_test_lane_SOURCES = tests/unit/test_lane.c tests/unit/tap.h
tests_unit_test_lane_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_lane_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_lane_LDADD = src/join/libjoin.la
tests_unit_test_link_SOURCES = tests/unit/test_link.c tests/unit/draw.h tests/unit/tap.h
tests_unit_test_link_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_link_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_link_LDADD = src/join/libjoin.la
tests_unit_test_net_SOURCES = tests/unit/test_net.c tests/unit/draw.h tests/unit/tap.h \
	tests/unit/verbs_events.c tests/unit/verbs_events.h
tests_unit_test_net_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_net_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_net_LDADD = src/join/libjoin.la
tests_unit_test_shared_SOURCES = tests/unit/test_shared.c tests/unit/draw.h tests/unit/tap.h \
	tests/unit/verbs_events.c tests/unit/verbs_events.h
tests_unit_test_shared_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_shared_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_shared_LDADD = src/join/libjoin.la
tests_unit_test_symbol_SOURCES = tests/unit/test_symbol.c tests/unit/tap.h
tests_unit_test_symbol_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_symbol_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_symbol_LDADD = src/join/libjoin.la
tests_unit_test_wire_SOURCES = tests/unit/test_wire.c tests/unit/draw.h tests/unit/tap.h \
	tests/unit/verbs_events.c tests/unit/verbs_events.h
tests_unit_test_wire_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_wire_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_wire_LDADD = src/join/libjoin.la
tests_unit_fuzz_join_SOURCES = tests/unit/fuzz_join.c
tests_unit_fuzz_join_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_fuzz_join_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_fuzz_join_LDADD = src/join/libjoin.la

check_PROGRAMS += tests/unit/test_clock
tests_unit_test_clock_SOURCES = tests/unit/test_clock.c tests/unit/draw.h tests/unit/tap.h
tests_unit_test_clock_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_clock_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_clock_LDADD = src/join/libjoin.la

check_PROGRAMS += tests/unit/test_ranks
tests_unit_test_ranks_SOURCES = tests/unit/test_ranks.c tests/unit/tap.h \
	src/common/ranks.c src/common/ranks.h
tests_unit_test_ranks_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_ranks_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_metrics
tests_unit_test_metrics_SOURCES = tests/unit/test_metrics.c tests/unit/tap.h \
	src/common/counters.c src/common/counters.h src/common/port_counters.h \
	src/tools/metrics_devices.c src/tools/metrics_devices.h src/tools/metrics_label.h \
	src/tools/metrics_ports.c src/tools/metrics_ports.h \
	src/tools/metrics_text.c src/tools/metrics_text.h \
	src/tools/message.c src/tools/message.h src/common/metrics_page.h \
	src/common/launcher.c src/common/launcher.h
tests_unit_test_metrics_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_metrics_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_ports
tests_unit_test_ports_SOURCES = tests/unit/test_ports.c tests/unit/tap.h
tests_unit_test_ports_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_ports_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_top
tests_unit_test_top_SOURCES = tests/unit/test_top.c tests/unit/tap.h \
	src/tools/top_table.c src/tools/top_table.h src/tools/top_text.c src/tools/top_text.h
tests_unit_test_top_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_top_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_rooms
tests_unit_test_rooms_SOURCES = tests/unit/test_rooms.c tests/unit/tap.h \
	src/common/launcher.c src/common/launcher.h src/common/metrics_page.h \
	src/common/thread.c src/common/thread.h \
	src/intercept/metrics.c src/intercept/metrics.h
tests_unit_test_rooms_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_rooms_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_recorder
tests_unit_test_recorder_SOURCES = tests/unit/test_recorder.c tests/unit/tap.h \
	src/intercept/own_fd.c src/intercept/own_fd.h \
	src/tools/record_notes.c src/tools/record_notes.h src/common/metrics_page.h
tests_unit_test_recorder_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_recorder_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_list tests/unit/test_vec
tests_unit_test_list_SOURCES = tests/unit/test_list.c tests/unit/tap.h src/common/list.h
tests_unit_test_list_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_list_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_vec_SOURCES = tests/unit/test_vec.c tests/unit/tap.h src/common/vec.h
tests_unit_test_vec_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_vec_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_expected tests/unit/test_net_run tests/unit/test_transfer
check_PROGRAMS += tests/unit/test_net_fit
tests_unit_test_net_fit_SOURCES = tests/unit/test_net_fit.c tests/unit/draw.h tests/unit/tap.h
tests_unit_test_net_fit_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_net_fit_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_net_fit_LDADD = src/join/libjoin.la
tests_unit_test_transfer_SOURCES = tests/unit/test_transfer.c tests/unit/tap.h
tests_unit_test_transfer_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_transfer_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_transfer_LDADD = src/join/libjoin.la
tests_unit_test_expected_SOURCES = tests/unit/test_expected.c tests/unit/tap.h
tests_unit_test_expected_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_expected_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_expected_LDADD = src/join/libjoin.la
tests_unit_test_net_run_SOURCES = tests/unit/test_net_run.c tests/unit/draw.h tests/unit/tap.h
tests_unit_test_net_run_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_net_run_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_net_run_LDADD = src/join/libjoin.la

check_PROGRAMS += tests/unit/test_kernel
tests_unit_test_kernel_SOURCES = tests/unit/test_kernel.c tests/unit/tap.h
tests_unit_test_kernel_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_kernel_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_kernel_LDADD = src/join/libjoin.la
EXTRA_DIST += tests/unit/test_function_ids.sh

check_PROGRAMS += tests/unit/test_nccl_args
tests_unit_test_nccl_args_SOURCES = tests/unit/test_nccl_args.c tests/unit/tap.h \
	src/intercept/cuda/nccl_args.c src/intercept/cuda/nccl_args.h
tests_unit_test_nccl_args_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_nccl_args_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_helper
tests_unit_test_helper_SOURCES = tests/unit/test_helper.c tests/unit/tap.h \
	src/common/helper.c src/common/helper.h src/common/thread.c src/common/thread.h
tests_unit_test_helper_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_helper_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_counters
tests_unit_test_counters_SOURCES = tests/unit/test_counters.c tests/unit/tap.h \
	src/common/counters.c src/common/counters.h
tests_unit_test_counters_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_counters_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_safe_read
tests_unit_test_safe_read_SOURCES = tests/unit/test_safe_read.c tests/unit/tap.h \
	src/common/safe_read.c src/common/safe_read.h
tests_unit_test_safe_read_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_safe_read_CFLAGS = $(AM_CFLAGS)

check_PROGRAMS += tests/unit/test_comm
tests_unit_test_comm_SOURCES = tests/unit/test_comm.c tests/unit/tap.h \
	src/common/launcher.c src/common/launcher.h src/common/metrics_page.h \
	src/intercept/metrics.c src/intercept/metrics.h \
	src/common/safe_read.c src/common/safe_read.h src/common/thread.c src/common/thread.h \
	src/intercept/nccl/comm.c src/intercept/nccl/comm.h src/intercept/nccl/group.c src/intercept/nccl/group.h \
	src/intercept/thread_state.c src/intercept/thread_state.h \
	src/intercept/threads.c src/intercept/threads.h
tests_unit_test_comm_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_comm_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
EXTRA_DIST += tests/unit/test_races.sh tests/unit/test_ordering.sh tests/unit/ordering.py

check_PROGRAMS += tests/unit/test_entries
tests_unit_test_entries_SOURCES = tests/unit/test_entries.c tests/unit/tap.h \
	src/common/launcher.c src/common/launcher.h src/common/metrics_page.h \
	src/intercept/metrics.c src/intercept/metrics.h \
	src/common/thread.c src/common/thread.h src/intercept/cuda/cuda_call.c src/intercept/cuda/cuda.h \
	src/intercept/entry.c src/intercept/entry.h src/intercept/guard.c src/intercept/guard.h
tests_unit_test_entries_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_entries_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_net_service tests/unit/test_net_stream
tests_unit_test_net_service_SOURCES = tests/unit/test_net_service.c tests/unit/tap.h \
	src/intercept/net/service.c src/intercept/net/service.h
tests_unit_test_net_service_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_net_service_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_net_stream_SOURCES = tests/unit/test_net_stream.c tests/unit/tap.h \
	src/intercept/net/stream.c src/intercept/net/stream.h
tests_unit_test_net_stream_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_net_stream_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_gate
tests_unit_test_gate_SOURCES = tests/unit/test_gate.c tests/unit/tap.h \
	src/common/barrier.c src/common/barrier.h src/common/gate.c src/common/gate.h \
	src/common/thread.c src/common/thread.h
tests_unit_test_gate_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_gate_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

check_PROGRAMS += tests/unit/test_poll
tests_unit_test_poll_SOURCES = tests/unit/test_poll.c tests/unit/tap.h \
	src/common/barrier.c src/common/barrier.h src/common/thread.c src/common/thread.h \
	src/verbs/metered.c src/verbs/metered.h \
	src/verbs/objects.c src/verbs/objects.h src/verbs/poll.c src/verbs/poll.h \
	src/verbs/table.c src/verbs/table.h src/verbs/owner_counter.c src/verbs/owner_counter.h
tests_unit_test_poll_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_poll_CFLAGS = $(AM_CFLAGS) $(TSAN_CFLAGS)

check_PROGRAMS += tests/unit/test_cupti
tests_unit_test_cupti_SOURCES = tests/unit/test_cupti.c tests/unit/tap.h \
	src/common/thread.c src/common/thread.h \
	src/cupti/buffers.c src/cupti/buffers.h src/cupti/callback.c src/cupti/callback.h \
	src/cupti/clock.c src/cupti/clock.h src/cupti/names.c src/cupti/names.h \
	src/cupti/records.c src/cupti/records.h
tests_unit_test_cupti_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_cupti_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)

UNIT_TESTS = tests/unit/test_collective tests/unit/test_join tests/unit/test_lane tests/unit/test_late tests/unit/test_link \
	tests/unit/test_cupti tests/unit/test_nccl_args tests/unit/test_net tests/unit/test_shared \
	tests/unit/test_symbol tests/unit/test_wire tests/unit/test_ranks tests/unit/test_expected tests/unit/test_net_run tests/unit/test_net_fit tests/unit/test_transfer tests/unit/test_kernel \
	tests/unit/test_counters tests/unit/test_helper tests/unit/test_function_ids.sh tests/unit/test_safe_read \
	tests/unit/test_comm tests/unit/test_entries tests/unit/test_ordering.sh tests/unit/test_races.sh tests/unit/test_gate \
	tests/unit/test_poll \
	tests/unit/fuzz_join

check_PROGRAMS += tests/unit/test_call
tests_unit_test_call_SOURCES = tests/unit/test_call.c tests/unit/tap.h
tests_unit_test_call_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_call_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_call_LDADD = src/join/libjoin.la
UNIT_TESTS += tests/unit/test_metrics tests/unit/test_ports tests/unit/test_recorder tests/unit/test_rooms tests/unit/test_top
UNIT_TESTS += tests/unit/test_call
UNIT_TESTS += tests/unit/test_clock
UNIT_TESTS += tests/unit/test_net_service tests/unit/test_net_stream

check_PROGRAMS += tests/unit/test_diff
tests_unit_test_diff_SOURCES = tests/unit/test_diff.c tests/unit/tap.h
tests_unit_test_diff_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_diff_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_diff_LDADD = src/join/libjoin.la
UNIT_TESTS += tests/unit/test_diff
check_PROGRAMS += tests/unit/test_demangle
tests_unit_test_demangle_SOURCES = tests/unit/test_demangle.c tests/unit/tap.h
tests_unit_test_demangle_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_demangle_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_demangle_LDADD = src/join/libjoin.la
UNIT_TESTS += tests/unit/test_demangle
check_PROGRAMS += tests/unit/test_spread
tests_unit_test_spread_SOURCES = tests/unit/test_spread.c tests/unit/tap.h
tests_unit_test_spread_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_spread_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_spread_LDADD = src/join/libjoin.la
UNIT_TESTS += tests/unit/test_spread
UNIT_TESTS += tests/unit/test_list tests/unit/test_vec

check_PROGRAMS += tests/unit/test_duckdb
tests_unit_test_duckdb_SOURCES = tests/unit/test_duckdb.c tests/unit/tap.h \
	src/tools/duckdb.c src/tools/duckdb.h src/tools/message.c src/tools/message.h \
	src/tools/program.c src/tools/program.h
tests_unit_test_duckdb_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_duckdb_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_duckdb_LDFLAGS = -Wl,--wrap=fork
UNIT_TESTS += tests/unit/test_duckdb

check_PROGRAMS += tests/unit/test_child
tests_unit_test_child_SOURCES = tests/unit/test_child.c tests/unit/tap.h \
	src/tools/child.c src/tools/child.h src/tools/message.c src/tools/message.h \
	src/tools/pager.c src/tools/pager.h src/tools/percent.c src/tools/percent.h \
	src/tools/program.c src/tools/program.h src/tools/watch.h
tests_unit_test_child_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_child_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
UNIT_TESTS += tests/unit/test_child

check_PROGRAMS += tests/unit/test_metadata
tests_unit_test_metadata_SOURCES = tests/unit/test_metadata.c tests/unit/tap.h \
	src/tools/metadata.c src/tools/metadata.h
tests_unit_test_metadata_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_metadata_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
UNIT_TESTS += tests/unit/test_metadata

check_PROGRAMS += tests/unit/test_columns
tests_unit_test_columns_SOURCES = tests/unit/test_columns.c tests/unit/tap.h
tests_unit_test_columns_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_columns_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_columns_LDADD = src/join/libjoin.la
UNIT_TESTS += tests/unit/test_columns

# Reads back what src/join writes with another's reader.
check_PROGRAMS += tests/unit/test_json
tests_unit_test_json_SOURCES = tests/unit/test_json.c tests/unit/draw.h tests/unit/tap.h
tests_unit_test_json_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests $(JSON_C_CFLAGS)
tests_unit_test_json_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_unit_test_json_LDADD = src/join/libjoin.la $(JSON_C_LIBS)
UNIT_TESTS += tests/unit/test_json
TESTS += $(UNIT_TESTS)
