# SPDX-License-Identifier: MIT
# The reader: a core in plain C, which the unit tests link too, and the
# babeltrace2 plugin around it.

noinst_LTLIBRARIES += src/join/libjoin.la
src_join_libjoin_la_SOURCES = \
	src/common/list.h src/common/vec.h \
	src/join/audit/audit.c \
	src/join/audit/buffers.c \
	src/join/audit/communicators.c \
	src/join/audit/environment.c \
	src/join/audit/left.c \
	src/join/audit/libraries.c \
	src/join/audit/matching.c \
	src/join/audit/object.c src/join/audit/object.h \
	src/join/audit/open.c \
	src/join/audit/page.c src/join/audit/page.h \
	src/join/audit/polling.c \
	src/join/audit/remark.c src/join/audit/subject.h \
	src/join/audit/sites.c \
	src/join/audit/sizes.c \
	src/join/audit/unobserved.c \
	src/join/audit/waits.c \
	src/join/base/buffer.c src/join/base/buffer.h \
	src/join/base/chain.h \
	src/join/base/demangle.c src/join/base/demangle.h \
	src/join/base/field.c src/join/base/field.h \
	src/join/base/heap.c src/join/base/heap.h \
	src/join/base/json.c src/join/base/json.h \
	src/join/base/outfile.c src/join/base/outfile.h \
	src/join/base/proto.c src/join/base/proto.h \
	src/join/base/quantity.c src/join/base/quantity.h \
	src/join/base/spread.c src/join/base/spread.h \
	src/join/base/table.c src/join/base/table.h \
	src/join/base/time.h \
	src/join/bt/progress.c src/join/bt/progress.h \
	src/join/clock/band.c src/join/clock/band.h \
	src/join/clock/central.c src/join/clock/central.h \
	src/join/clock/estimate.c src/join/clock/estimate.h \
	src/join/clock/observer.c src/join/clock/observer.h \
	src/join/clock/order.c src/join/clock/order.h \
	src/join/clock/solve.c src/join/clock/solve.h \
	src/join/export/column.c src/join/export/column.h \
	src/join/export/export.c \
	src/join/export/files.c src/join/export/files.h \
	src/join/export/span_tables.c \
	src/join/export/tables.c src/join/export/tables.h \
	src/join/findings/analysis.h \
	src/join/findings/breakdown.c src/join/findings/breakdown.h \
	src/join/findings/choice.c src/join/findings/choice.h \
	src/join/findings/clear.c \
	src/join/findings/unobserved.c src/join/findings/unobserved.h \
	src/join/findings/collective.c src/join/findings/collective.h \
	src/join/findings/counters.c \
	src/join/findings/failed.c \
	src/join/findings/finding.c src/join/findings/finding.h \
	src/join/findings/findings.c src/join/findings/findings.h \
	src/join/findings/late.c \
	src/join/findings/lateness.c src/join/findings/lateness.h \
	src/join/findings/mismatch.c \
	src/join/findings/missing.c \
	src/join/findings/progress.c src/join/findings/progress.h \
	src/join/findings/proxy.c \
	src/join/findings/sample.c src/join/findings/sample.h \
	src/join/findings/setup.c \
	src/join/findings/slow.c \
	src/join/findings/stuck.c \
	src/join/findings/words.c src/join/findings/words.h \
	src/join/gpu/cuda.c src/join/gpu/cuda.h \
	src/join/gpu/cuda_graph.c src/join/gpu/cuda_graph.h \
	src/join/gpu/gpu.c src/join/gpu/gpu.h \
	src/join/gpu/gpu_call.c src/join/gpu/gpu_call.h \
	src/join/gpu/gpu_cupti.c src/join/gpu/gpu_cupti.h \
	src/join/gpu/gpu_graph.c src/join/gpu/gpu_graph.h \
	src/join/gpu/gpu_launch.c src/join/gpu/gpu_launch.h \
	src/join/gpu/gpu_repeat.c src/join/gpu/gpu_repeat.h \
	src/join/gpu/gpu_run.c src/join/gpu/gpu_run.h \
	src/join/gpu/gpu_span.c src/join/gpu/gpu_span.h \
	src/join/join.c src/join/join.h \
	src/join/model/call.c src/join/model/call.h \
	src/join/model/clock.c src/join/model/clock.h \
	src/join/model/comm.c src/join/model/comm.h \
	src/join/model/context.c src/join/model/context.h \
	src/join/model/event.c src/join/model/event.h \
	src/join/model/layer.h \
	src/join/model/link.c src/join/model/link.h \
	src/join/model/name.c src/join/model/name.h \
	src/join/model/nccl_connection.c src/join/model/nccl_connection.h \
	src/join/model/nccl_thread.c src/join/model/nccl_thread.h \
	src/join/model/open.c src/join/model/open.h \
	src/join/model/layers.h \
	src/join/model/layer_calls.c \
	src/join/model/layer_comms.c \
	src/join/model/layer_processes.c \
	src/join/model/pair.c src/join/model/pair.h \
	src/join/model/process.c src/join/model/process.h \
	src/join/model/profiler.c src/join/model/profiler.h \
	src/join/model/span.c src/join/model/span.h \
	src/join/model/stream.c src/join/model/stream.h \
	src/join/model/trace.c src/join/model/trace.h \
	src/join/model/vendor.c src/join/model/vendor.h \
	src/join/model/wire.c src/join/model/wire.h \
	src/join/model/work.c src/join/model/work.h \
	src/join/nccl/attribution.c src/join/nccl/attribution.h \
	src/join/nccl/candidate.c src/join/nccl/candidate.h \
	src/join/nccl/connection.c src/join/nccl/connection.h \
	src/join/nccl/connection_order.c src/join/nccl/connection_order.h \
	src/join/nccl/expected.c src/join/nccl/expected.h \
	src/join/nccl/funcid.c src/join/nccl/funcid.h src/join/nccl/funcid/v222.def \
	src/join/nccl/funcid/v223.def src/join/nccl/funcid/v224.def src/join/nccl/funcid/v229.def \
	src/join/nccl/graph_ops.c src/join/nccl/graph_ops.h \
	src/join/nccl/kernel.c src/join/nccl/kernel.h \
	src/join/nccl/kernel_ops.c src/join/nccl/kernel_ops.h \
	src/join/nccl/net.h \
	src/join/nccl/net_asker.c src/join/nccl/net_asker.h \
	src/join/nccl/net_calls.c src/join/nccl/net_calls.h \
	src/join/nccl/net_channel.c src/join/nccl/net_channel.h \
	src/join/nccl/net_caller.c src/join/nccl/net_caller.h \
	src/join/nccl/net_client.c src/join/nccl/net_client.h \
	src/join/nccl/net_empty.c src/join/nccl/net_empty.h \
	src/join/nccl/net_service.c src/join/nccl/net_service.h \
	src/join/nccl/net_flush.c src/join/nccl/net_flush.h \
	src/join/nccl/net_match.c src/join/nccl/net_match.h \
	src/join/nccl/net_message.c src/join/nccl/net_message.h \
	src/join/nccl/net_piece.c src/join/nccl/net_piece.h \
	src/join/nccl/net_region.c src/join/nccl/net_region.h \
	src/join/nccl/net_share.c src/join/nccl/net_share.h \
	src/join/nccl/net_route.c src/join/nccl/net_route.h \
	src/join/nccl/net_served.c src/join/nccl/net_served.h \
	src/join/nccl/net_fit.c src/join/nccl/net_fit.h \
	src/join/nccl/net_ledger.c src/join/nccl/net_ledger.h \
	src/join/nccl/net_occasion.c src/join/nccl/net_occasion.h \
	src/join/nccl/net_total.c src/join/nccl/net_total.h \
	src/join/nccl/net_lane.c src/join/nccl/net_lane.h \
	src/join/nccl/net_serving.c src/join/nccl/net_serving.h \
	src/join/nccl/net_socket.c src/join/nccl/net_socket.h \
	src/join/nccl/net_span.c src/join/nccl/net_span.h \
	src/join/nccl/net_stream.c src/join/nccl/net_stream.h \
	src/join/nccl/net_stream_span.c src/join/nccl/net_stream_span.h \
	src/join/nccl/netib.c src/join/nccl/netib.h \
	src/join/nccl/op_times.c src/join/nccl/op_times.h \
	src/join/nccl/proxy_ctrl.c src/join/nccl/proxy_ctrl.h \
	src/join/nccl/proxy_op.c src/join/nccl/proxy_op.h \
	src/join/nccl/rank_ops.c src/join/nccl/rank_ops.h \
	src/join/nccl/net_run.c src/join/nccl/net_run.h \
	src/join/nccl/run_count.c src/join/nccl/run_count.h \
	src/join/nccl/node.c src/join/nccl/node.h \
	src/join/nccl/sizes.c src/join/nccl/sizes.h \
	src/join/nccl/transfer.c src/join/nccl/transfer.h \
	src/join/nccl/thread.c src/join/nccl/thread.h \
	src/join/nccl/thread_comm.c src/join/nccl/thread_comm.h \
	src/join/nccl/thread_role.c src/join/nccl/thread_role.h \
	src/join/ranks/emit.c \
	src/join/ranks/operations.c src/join/ranks/operations.h \
	src/join/ranks/slot.c src/join/ranks/slot.h \
	src/join/rdma/column.c src/join/rdma/column.h \
	src/join/rdma/completion.c src/join/rdma/completion.h \
	src/join/rdma/flow.c src/join/rdma/flow.h \
	src/join/rdma/memory.c src/join/rdma/memory.h \
	src/join/rdma/observer.h \
	src/join/rdma/outcome.c src/join/rdma/outcome.h \
	src/join/rdma/post.c src/join/rdma/post.h \
	src/join/rdma/qp.c src/join/rdma/qp.h \
	src/join/rdma/queue.h \
	src/join/rdma/request.c src/join/rdma/request.h \
	src/join/rdma/side.h \
	src/join/rdma/verbs.c src/join/rdma/verbs.h \
	src/join/report/check_connections.c src/join/report/check_connections.h \
	src/join/report/check.c \
	src/join/report/checked.c src/join/report/checked.h \
	src/join/report/columns.c src/join/report/columns.h \
	src/join/report/complete.c \
	src/join/report/defect.c src/join/report/defect.h \
	src/join/report/diff.c src/join/report/diff.h \
	src/join/report/focus.c src/join/report/focus.h \
	src/join/report/forward.c src/join/report/forward.h \
	src/join/report/kernels.c src/join/report/kernels.h \
	src/join/report/measures.c src/join/report/measures.h \
	src/join/report/overview.c src/join/report/overview.h \
	src/join/report/page.c src/join/report/page.h \
	src/join/report/page_arrivals.c src/join/report/page_arrivals.h \
	src/join/report/page_spans.c src/join/report/page_spans.h \
	src/join/report/page_traffic.c src/join/report/page_traffic.h \
	src/join/report/perfetto.c \
	src/join/report/ranks.c src/join/report/ranks.h \
	src/join/report/report.c \
	src/join/report/report_ascribed.c src/join/report/report_ascribed.h \
	src/join/report/report_calls.c src/join/report/report_calls.h \
	src/join/report/report_comm.c src/join/report/report_comm.h src/join/report/report_comm_out.c \
	src/join/report/report_cuda.c src/join/report/report_cuda.h \
	src/join/report/report_gpu.c src/join/report/report_gpu.h \
	src/join/report/report_net.c src/join/report/report_net.h \
	src/join/report/report_threads.c src/join/report/report_threads.h \
	src/join/report/report_transports.c src/join/report/report_transports.h \
	src/join/report/report_work.c src/join/report/report_work.h \
	src/join/report/rows.c src/join/report/rows.h \
	src/join/report/screen.c src/join/report/screen.h \
	src/join/report/times.c src/join/report/times.h \
	src/join/report/why.c \
	src/join/views/derived.c src/join/views/derived.h \
	src/join/views/derived_mark.h \
	src/join/views/derived_place.c src/join/views/derived_place.h \
	src/join/views/derived_queue.c src/join/views/derived_queue.h \
	src/join/views/derived_subject.c src/join/views/derived_subject.h \
	src/join/views/event_file.c src/join/views/event_file.h \
	src/join/views/filtered.c src/join/views/filtered.h \
	src/join/views/filters.c src/join/views/filters.h \
	src/join/views/fold.c src/join/views/fold.h \
	src/join/views/held.c src/join/views/held.h \
	src/join/views/jsonl.c \
	src/join/views/known.c src/join/views/known.h \
	src/join/views/lane.c src/join/views/lane.h \
	src/join/views/merged.c src/join/views/merged.h src/join/views/merged_write.c \
	src/join/views/order.c src/join/views/order.h \
	src/join/views/perfetto.c src/join/views/perfetto.h \
	src/join/views/perfetto_count.c src/join/views/perfetto_count.h \
	src/join/views/perfetto_form.h \
	src/join/views/perfetto_form_json.c src/join/views/perfetto_form_json.h \
	src/join/views/perfetto_form_proto.c \
	src/join/views/perfetto_name.c src/join/views/perfetto_name.h \
	src/join/views/perfetto_packet.c src/join/views/perfetto_packet.h \
	src/join/views/perfetto_proto.h \
	src/join/views/perfetto_track.c src/join/views/perfetto_track.h \
	src/join/views/stack.c src/join/views/stack.h \
	src/join/views/span_row.c src/join/views/span_row.h \
	src/join/views/symbol.c src/join/views/symbol.h \
	src/join/views/tree.c src/join/views/tree_view.h \
	src/join/views/tree_fields.c src/join/views/tree_fields.h \
	src/join/views/tree_json.c src/join/views/tree_order.c src/join/views/tree_text.c \
	src/join/views/tree_hold.c src/join/views/tree_hold.h \
	src/join/views/tree_parts.c src/join/views/tree_parts.h \
	src/join/views/tree_path.c src/join/views/tree_path.h \
	src/join/views/text.c \
	src/join/views/view.c src/join/views/view.h
src_join_libjoin_la_CFLAGS = $(AM_CFLAGS) $(READER_CFLAGS) $(SAN_CFLAGS) $(LIBDW_CFLAGS) \
	$(ZLIB_CFLAGS) $(JSON_C_CFLAGS) -fvisibility=hidden
src_join_libjoin_la_LIBADD = $(LIBDW_LIBS) $(ZLIB_LIBS) $(JSON_C_LIBS) -ldl

# A sanitizer's functions are in the program that loads the plugin.
JOIN_DEFS = $(if $(SAN_CFLAGS),,-Wl,-z,defs)

bt2plugin_LTLIBRARIES += babeltrace-plugin-ccltap.la
babeltrace_plugin_ccltap_la_SOURCES = \
	src/join/bt/ctf.c src/join/bt/ctf.h \
	src/join/bt/decode.c src/join/bt/decode.h \
	src/join/bt/decode_field.c src/join/bt/decode_field.h \
	src/join/bt/filter.c src/join/bt/filter.h \
	src/join/bt/first.c src/join/bt/first.h \
	src/join/bt/merge.c src/join/bt/merge.h \
	src/join/bt/param.c src/join/bt/param.h \
	src/join/bt/sink.c src/join/bt/sink.h \
	src/join/plugin.c
babeltrace_plugin_ccltap_la_CPPFLAGS = $(AM_CPPFLAGS) $(BABELTRACE2_CFLAGS)
babeltrace_plugin_ccltap_la_CFLAGS = $(AM_CFLAGS) $(READER_CFLAGS) $(SAN_CFLAGS) \
	-fvisibility=hidden
babeltrace_plugin_ccltap_la_LDFLAGS = \
	-module -avoid-version -shared -Wl,-z,now $(JOIN_DEFS)
babeltrace_plugin_ccltap_la_LIBADD = src/join/libjoin.la $(BABELTRACE2_LIBS)

EXTRA_DIST += src/join/README.md src/join/audit/README.md src/join/base/README.md src/join/bt/README.md src/join/clock/README.md \
	src/join/export/README.md \
	src/join/findings/README.md src/join/gpu/README.md src/join/model/README.md src/join/nccl/README.md \
	src/join/ranks/README.md src/join/rdma/README.md src/join/report/README.md \
	src/join/views/README.md
