# SPDX-License-Identifier: MIT
# Documentation; the manual pages are listed here, whoever's code they describe.

dist_man_MANS += \
	doc/man/babeltrace2-plugin-ccltap.7 \
	doc/man/ccltap.1 \
	doc/man/ccltap-audit.1 \
	doc/man/ccltap-check.1 \
	doc/man/ccltap-collect.1 \
	doc/man/ccltap-doctor.1 \
	doc/man/ccltap-end.1 \
	doc/man/ccltap-env.1 \
	doc/man/ccltap-events.7 \
	doc/man/ccltap-export.1 \
	doc/man/ccltap-jsonl.5 \
	doc/man/ccltap-query.1 \
	doc/man/ccltap-record.1 \
	doc/man/ccltap-report.1 \
	doc/man/ccltap-snapshot.1 \
	doc/man/ccltap-start.1 \
	doc/man/ccltap-status.1 \
	doc/man/ccltap-stop.1 \
	doc/man/ccltap-timeline.1 \
	doc/man/ccltap-top.1 \
	doc/man/ccltap-trace.5 \
	doc/man/ccltap-view.1 \
	doc/man/ccltap-why.1

EXTRA_DIST += \
	doc/GLOSSARY.md \
	doc/INTERNALS.md \
	doc/clusters.md \
	doc/diagnoses.md \
	doc/frameworks.md \
	doc/gpu-results.md \
	doc/late.svg \
	doc/page.png \
	doc/limitations.md \
	doc/nccl-function-ids.md \
	doc/parity.md \
	doc/perfetto.md \
	doc/platforms.md \
	doc/real-rdma.md \
	doc/score.md \
	doc/trace-compass.md \
	doc/verdict.md \
	doc/decisions/0001-one-row-per-call.md \
	doc/decisions/0002-names-that-dlsym-passes-over.md \
	doc/decisions/0003-the-reader-is-a-sink.md \
	doc/decisions/0004-json-is-written-by-ourselves.md \
	doc/decisions/0005-state-when-lttng-asks.md \
	doc/decisions/0006-the-start-is-measured-against-lttng.md \
	doc/decisions/0007-stacks-by-unwind-tables-of-our-own-reading.md \
	doc/decisions/0008-the-derived-trace-is-written-as-it-happens.md \
	doc/decisions/0009-a-supervisor-owns-the-recording.md \
	doc/decisions/0010-what-few-have-is-another-event.md \
	doc/decisions/0011-ordinals-without-locked-instructions.md \
	doc/decisions/0012-cupti-is-had-while-somebody-records.md \
	doc/decisions/0013-the-bench-takes-the-least.md \
	doc/decisions/0014-lists-and-arrays-are-two-small-headers.md \
	doc/decisions/0015-hosts-are-put-on-one-clock-by-shortest-paths.md \
	doc/decisions/0016-messages-over-sockets-without-decoding.md \
	doc/decisions/0017-messages-that-a-rank-posts-for-others.md \
	doc/decisions/0018-perfetto-traces-are-encoded-by-ourselves.md \
	doc/decisions/0019-tables-are-csv-that-duckdb-makes-parquet.md \
	doc/decisions/0020-the-page-is-a-template-with-data.md \
	doc/decisions/0021-connections-without-decoding.md \
	doc/decisions/0022-many-hosts-are-exported-one-by-one.md \
	doc/decisions/0023-weak-ordering.md \
	doc/decisions/0025-where-the-time-of-reading-goes.md \
	doc/decisions/0026-other-traces-are-read-by-json-c.md \
	doc/decisions/0027-counters-are-a-page-of-the-process.md \
	doc/decisions/0028-queues-are-counted-by-device.md \
	doc/decisions/0029-metrics-are-served-and-shown-by-libraries.md \
	doc/decisions/0030-which-messages-stay-without-an-operation.md \
	doc/decisions/0031-lttngs-guard-of-descriptors-stays-preloaded.md \
	doc/decisions/0032-a-process-that-counts-loads-lttng-when-it-is-asked.md \
	doc/decisions/0033-where-the-end-of-record-goes.md \
	doc/decisions/0034-who-knows-when-a-call-began-reads-the-clock.md \
	doc/decisions/0035-what-a-call-costs-beside-its-events.md

diagnosesdocdir = $(docdir)/diagnoses
dist_diagnosesdoc_DATA = \
	doc/diagnoses/hung.png \
	doc/diagnoses/late.png \
	doc/diagnoses/slow.png

# Pictures of one page.
tracecompassdocdir = $(docdir)/trace-compass
dist_tracecompassdoc_DATA = \
	doc/trace-compass/arrows.png \
	doc/trace-compass/bytes-in-calls.png \
	doc/trace-compass/bytes-in-flight.png \
	doc/trace-compass/flame-chart.png \
	doc/trace-compass/lanes.png \
	doc/trace-compass/latencies.png \
	doc/trace-compass/operations.png \
	doc/trace-compass/overview.png
