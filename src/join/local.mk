# SPDX-License-Identifier: MIT
# The reader: a core in plain C, which the unit tests link too, and the
# babeltrace2 plugin around it.

noinst_LTLIBRARIES += src/join/libjoin.la
src_join_libjoin_la_SOURCES = \
	src/join/buffer.c src/join/buffer.h \
	src/join/check.c \
	src/join/comm.c src/join/comm.h \
	src/join/cuda.c src/join/cuda.h \
	src/join/cuda_graph.c src/join/cuda_graph.h \
	src/join/defect.c src/join/defect.h \
	src/join/derived.c src/join/derived.h \
	src/join/emit.c \
	src/join/field.c src/join/field.h \
	src/join/flow.c src/join/flow.h \
	src/join/funcid.c src/join/funcid.h src/join/funcid/v222.def \
	src/join/funcid/v223.def src/join/funcid/v224.def src/join/funcid/v229.def \
	src/join/gpu.c src/join/gpu.h \
	src/join/gpu_call.c src/join/gpu_call.h \
	src/join/gpu_graph.c src/join/gpu_graph.h \
	src/join/heap.c src/join/heap.h \
	src/join/join.c src/join/join.h \
	src/join/json.c src/join/json.h \
	src/join/jsonl.c \
	src/join/kernel.c src/join/kernel.h \
	src/join/lane.c src/join/lane.h \
	src/join/link.c src/join/link.h \
	src/join/name.c src/join/name.h \
	src/join/net_flush.c src/join/net_flush.h \
	src/join/net_message.c src/join/net_message.h \
	src/join/netib.c src/join/netib.h \
	src/join/open.c src/join/open.h \
	src/join/order.c src/join/order.h \
	src/join/outfile.c src/join/outfile.h \
	src/join/pair.c src/join/pair.h \
	src/join/process.c src/join/process.h \
	src/join/qp.c src/join/qp.h \
	src/join/progress.c src/join/progress.h \
	src/join/report.c \
	src/join/report_comm.c src/join/report_comm.h src/join/report_comm_out.c \
	src/join/report_cuda.c src/join/report_cuda.h \
	src/join/report_gpu.c src/join/report_gpu.h \
	src/join/report_net.c src/join/report_net.h \
	src/join/report_work.c src/join/report_work.h \
	src/join/times.c src/join/times.h \
	src/join/slot.c src/join/slot.h \
	src/join/span.c src/join/span.h \
	src/join/spread.c src/join/spread.h \
	src/join/stack.c src/join/stack.h \
	src/join/symbol.c src/join/symbol.h \
	src/join/table.c src/join/table.h \
	src/join/text.c \
	src/join/trace.c src/join/trace.h \
	src/join/verbs.c src/join/verbs.h \
	src/join/view.c src/join/view.h \
	src/join/wire.c src/join/wire.h \
	src/join/wr.c src/join/wr.h
src_join_libjoin_la_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS) $(LIBDW_CFLAGS) -fvisibility=hidden
src_join_libjoin_la_LIBADD = $(LIBDW_LIBS) -ldl

# A sanitizer's functions are in the program that loads the plugin.
JOIN_DEFS = $(if $(SAN_CFLAGS),,-Wl,-z,defs)

bt2plugin_LTLIBRARIES += babeltrace-plugin-ccltap.la
babeltrace_plugin_ccltap_la_SOURCES = \
	src/join/ctf.c src/join/ctf.h \
	src/join/decode.c src/join/decode.h \
	src/join/decode_field.c src/join/decode_field.h \
	src/join/filter.c src/join/filter.h \
	src/join/merge.c src/join/merge.h \
	src/join/param.c src/join/param.h \
	src/join/plugin.c \
	src/join/sink.c src/join/sink.h
babeltrace_plugin_ccltap_la_CPPFLAGS = $(AM_CPPFLAGS) $(BABELTRACE2_CFLAGS)
babeltrace_plugin_ccltap_la_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS) -fvisibility=hidden
babeltrace_plugin_ccltap_la_LDFLAGS = \
	-module -avoid-version -shared -Wl,-z,now $(JOIN_DEFS)
babeltrace_plugin_ccltap_la_LIBADD = src/join/libjoin.la $(BABELTRACE2_LIBS)
