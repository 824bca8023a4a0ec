# SPDX-License-Identifier: MIT
"""A recording that is switched on for a part of a program."""

from types import TracebackType
from typing import Iterable, Optional, Type

from ccltap.program import run
from ccltap.trace import Trace, read


class Recording:
    """A recording of this host; as a context manager it records within the block.

    path is its folder, once it was started or stopped.
    """

    def __init__(self, recording: Optional[str] = None) -> None:
        self._arguments = [recording] if recording else []
        self.path: Optional[str] = None

    def start(self) -> None:
        """Records from now on, after a description of what exists."""
        self._steer("start")

    def stop(self) -> None:
        """Records no more until start()."""
        self._steer("stop")

    def read(self, *, options: Iterable[str] = ()) -> Trace:
        """What was recorded until now; see read().  The recording was started before."""
        if self.path is None:
            raise ValueError("the recording was not started here, so its folder is not known")
        return read(self.path, options=options)

    def _steer(self, verb: str) -> None:
        # "NAME is recording, in FOLDER"
        self.path = run([verb, *self._arguments]).rstrip("\n").split(", in ", 1)[1]

    def __enter__(self) -> "Recording":
        self.start()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.stop()


def record(recording: Optional[str] = None) -> Recording:
    """The recording of the job that this program is part of, or the one with that name or folder.

    "ccltap record --paused" has begun it.  Error, when it is started, where there is none.
    """
    return Recording(recording)
