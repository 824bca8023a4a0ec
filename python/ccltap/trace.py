# SPDX-License-Identifier: MIT
"""A recording as tables.

The records are those of ccltap-jsonl(5): a table for each type ("span", "link",
"communicator", ...), a row for each record, with the fields that the page describes.
"""

import importlib.util
import json
from typing import Any, Dict, Iterable, List, Optional, Sequence, cast

from ccltap.program import run

Record = Dict[str, Any]


class Trace:
    """What was recorded.

    names are the tables; records() has a table as it is, table(), arrow() and pandas() in the
    form that other libraries work with.
    """

    def __init__(self, paths: Sequence[str], options: Sequence[str] = ()) -> None:
        self.paths = list(paths)
        self.options = list(options)
        self._tables: Dict[str, List[Record]] = {}
        self._findings: Optional[List[Record]] = None
        text = run(["timeline", "--format=jsonl", "-o", "-", *self.options, *self.paths])
        for line in text.splitlines():
            if line.strip():
                record = json.loads(line)
                self._tables.setdefault(record.pop("type"), []).append(record)

    @property
    def names(self) -> List[str]:
        """The tables that the trace has."""
        return sorted(self._tables)

    def records(self, name: str) -> List[Record]:
        """A table as a list of dictionaries, empty where the trace has none of these."""
        return self._tables.get(name, [])

    def table(self, name: str) -> Any:
        """A table: pyarrow.Table where pyarrow is installed, pandas.DataFrame where pandas is,
        a list of dictionaries else."""
        if importlib.util.find_spec("pyarrow"):
            return self.arrow(name)
        if importlib.util.find_spec("pandas"):
            return self.pandas(name)
        return self.records(name)

    def arrow(self, name: str) -> Any:
        """A table as pyarrow.Table; what has parts of its own is a column of JSON."""
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return pyarrow.table(_columns(self.records(name)))

    def pandas(self, name: str) -> Any:
        """A table as pandas.DataFrame; times keep all digits."""
        import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return pandas.DataFrame(
            {key: pandas.array(column) for key, column in _columns(self.records(name)).items()}
        )

    @property
    def loss(self) -> Record:
        """What is missing in the trace."""
        headers = [record for record in self.records("trace") if record["loss"]]
        return cast(Record, headers[-1]["loss"]) if headers else {}

    @property
    def findings(self) -> List[Record]:
        """What "ccltap why" finds wrong, most costly first; see ccltap-why(1)."""
        if self._findings is None:
            # 0 nothing is wrong, 1 something, 2 it cannot tell.
            text = run(["why", "--json", *self.options, *self.paths], (0, 1, 2))
            self._findings = cast(List[Record], json.loads(text)["findings"])
        return self._findings


def read(path: str, *more: str, options: Iterable[str] = ()) -> Trace:
    """Reads a recording, or those of several hosts.

    options are those of ccltap-timeline(1) that say what is left in, such as "--rank=0" or
    "--last=10s".  Error where it cannot be read.
    """
    return Trace([str(path), *map(str, more)], [str(option) for option in options])


def _columns(records: List[Record]) -> Dict[str, List[Any]]:
    keys: Dict[str, None] = {}
    for record in records:
        keys.update(dict.fromkeys(record))
    return {key: _column(records, key) for key in keys}


def _column(records: List[Record], key: str) -> List[Any]:
    values = [record.get(key) for record in records]
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 or kinds & {dict, list}:
        return [None if value is None else json.dumps(value) for value in values]
    return values
