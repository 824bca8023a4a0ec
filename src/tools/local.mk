# SPDX-License-Identifier: MIT
bin_PROGRAMS += ccltap

ccltap_SOURCES = \
	src/common/launcher.c src/common/launcher.h \
	src/common/list.h \
	src/common/ranks.c src/common/ranks.h \
	src/common/vec.h \
	src/tools/main.c src/tools/commands.h \
	src/tools/message.c src/tools/message.h \
	src/tools/by_host.c src/tools/by_host.h \
	src/tools/chunks.c src/tools/chunks.h \
	src/tools/child.c src/tools/child.h \
	src/tools/collect.c \
	src/tools/collected.c src/tools/collected.h \
	src/tools/columns.c src/tools/columns.h \
	src/tools/command_line.c src/tools/command_line.h \
	src/tools/doctor.c \
	src/tools/duckdb.c src/tools/duckdb.h \
	src/tools/control.c \
	src/tools/counting.c src/tools/counting.h \
	src/tools/env.c src/tools/env.h \
	src/tools/export.c src/tools/query.c \
	src/tools/fetching.c src/tools/fetching.h \
	src/tools/folders.c src/tools/folders.h \
	src/tools/filters.c src/tools/filters.h \
	src/tools/focus.c src/tools/focus.h \
	src/tools/watch.h src/tools/watched.c src/tools/watched.h \
	src/tools/here.c src/tools/here.h \
	src/tools/hosts.c src/tools/hosts.h \
	src/tools/job.c src/tools/job.h \
	src/tools/control_socket.c src/tools/control_socket.h \
	src/tools/manual.c src/tools/manual.h \
	src/tools/metadata.c src/tools/metadata.h \
	src/tools/metrics.c src/tools/metrics.h \
	src/tools/metrics_devices.c src/tools/metrics_devices.h \
	src/tools/metrics_http.c src/tools/metrics_http.h \
	src/tools/metrics_label.h \
	src/tools/metrics_ports.c src/tools/metrics_ports.h \
	src/common/counters.c src/common/counters.h src/common/port_counters.h \
	src/tools/metrics_text.c src/tools/metrics_text.h src/common/metrics_page.h \
	src/tools/needed.c src/tools/needed.h \
	src/tools/pager.c src/tools/pager.h \
	src/tools/parts.c src/tools/parts.h \
	src/tools/percent.c src/tools/percent.h \
	src/tools/perfetto_ui.c src/tools/perfetto_ui.h \
	src/tools/place.c src/tools/place.h \
	src/tools/plugins.c src/tools/plugins.h \
	src/tools/program.c src/tools/program.h \
	src/tools/reading.c src/tools/reading.h \
	src/tools/record.c src/tools/relayd.c src/tools/relayd.h \
	src/tools/sending.c src/tools/sending.h \
	src/tools/record_buffers.c src/tools/record_buffers.h \
	src/tools/record_notes.c src/tools/record_notes.h \
	src/tools/record_output.c src/tools/record_output.h \
	src/tools/record_session.c src/tools/record_session.h \
	src/tools/record_summary.c src/tools/record_summary.h \
	src/tools/snapshots.c src/tools/snapshots.h \
	src/tools/remains.c src/tools/remains.h \
	src/tools/stacks.c src/tools/stacks.h \
	src/tools/supervisor.c src/tools/supervisor.h src/tools/plan.h \
	src/tools/recording.c src/tools/recording.h \
	src/tools/flight.c src/tools/flight.h src/tools/bound.c src/tools/bound.h \
	src/tools/peers.c src/tools/peers.h src/tools/requests.c src/tools/requests.h \
	src/tools/readers.c src/tools/readers.h src/tools/answer.c src/tools/answer.h \
	src/tools/descriptor.h \
	src/tools/terminal.c src/tools/terminal.h \
	src/tools/user_folder.c src/tools/user_folder.h \
	src/tools/view.c \
	src/tools/web_server.c src/tools/web_server.h \
	src/tools/workers.c src/tools/workers.h \
	src/tools/top.c src/tools/top_look.c src/tools/top_look.h \
	src/tools/top_screen.c src/tools/top_screen.h \
	src/tools/top_table.c src/tools/top_table.h src/tools/top_text.c src/tools/top_text.h \
	src/tools/traces.c src/tools/traces.h \
	src/tools/graph.c src/tools/graph.h src/tools/timeline.c src/tools/report.c \
	src/tools/why_beside.c src/tools/why_beside.h \
	src/tools/why_look.c src/tools/why_look.h src/tools/why_watch.c src/tools/why_watch.h \
	src/tools/audit.c src/tools/check.c src/tools/why.c
ccltap_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTAP_LIBDIR='"$(libdir)"' -DTAP_BT2PLUGINDIR='"$(bt2plugindir)"' \
	-DTAP_DATADIR='"$(datadir)/ccltap"'
ccltap_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS) \
	$(LTTNG_CTL_CFLAGS) $(BABELTRACE2_CFLAGS) $(MICROHTTPD_CFLAGS) $(NCURSES_CFLAGS)
ccltap_LDADD = $(LTTNG_CTL_LIBS) $(BABELTRACE2_LIBS) $(NCURSES_LIBS)

EXTRA_DIST += src/tools/README.md
