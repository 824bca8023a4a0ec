# SPDX-License-Identifier: MIT
# What tests of the view for Perfetto share: whether its importer is here, and how to ask it.
# shellcheck shell=sh

tools=${CCLTAP_PYTHON_TOOLS-}
if [ -z "$tools" ]; then
    echo "1..0 # SKIP CCLTAP_PYTHON_TOOLS is not set: scripts/fetch-python-tools makes the folder"
    exit 0
fi
if ! command -v node >/dev/null; then
    echo "1..0 # SKIP node is not installed: scripts/install-deps tests"
    exit 0
fi

# perfetto_check NAME...: compares NAME.perfetto with NAME.jsonl and NAME.why
perfetto_check()
{
    "$tools/bin/python" "${top_srcdir:?}/tests/lib/perfetto_check.py" "$@" 2>"${work:?}/engine" || {
        grep -v '^Loading trace\|^warning: unsupported\|^$' "$work/engine"
        return 1
    }
}

# perfetto_query TRACE SQL...: the rows of the answers
perfetto_query()
{
    "$tools/bin/python" "${top_srcdir:?}/tests/lib/perfetto_query.py" "$@" 2>"${work:?}/engine" || {
        cat "$work/engine"
        return 1
    }
}
