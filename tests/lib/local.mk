# SPDX-License-Identifier: MIT
# What the tests share.

EXTRA_DIST += tests/README.md tests/emulated tests/lib/tap.sh tests/lib/tap.h tests/lib/record.inc.sh \
	tests/lib/chromium.py \
	tests/lib/derived.py tests/lib/driver_log.py tests/lib/drop-packets.py \
	tests/lib/nccl_wire.py tests/lib/page.py tests/lib/tracecompass.py tests/lib/view_ids.py \
	tests/lib/on_terminal.py tests/lib/perfetto.inc.sh \
	tests/lib/perfetto_check.py tests/lib/perfetto_engine.js tests/lib/perfetto_query.py tests/lib/trace_event_check.py \
	tests/lib/without.py tests/lib/crt/host_defines.h
CLEANFILES += tests/alone.lock
