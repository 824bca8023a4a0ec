# SPDX-License-Identifier: MIT
"""The program ccltap: where it is, and what it says when it fails."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Sequence

# In a wheel: the portable form.
FOLDER = Path(__file__).resolve().parent / "portable"


class Error(RuntimeError):
    """ccltap failed; the text is what it wrote."""


def program() -> str:
    """The path of the program: the wheel's, else the one in PATH."""
    own = FOLDER / "bin" / "ccltap"
    if own.exists():
        return str(own)
    found = shutil.which("ccltap")
    if found is None:
        raise Error("there is no program ccltap, neither beside this module nor in PATH")
    return found


def run(arguments: Sequence[str], statuses: Sequence[int] = (0,)) -> str:
    """Runs ccltap; returns what it wrote.  Error, if it ends with another status."""
    done = subprocess.run(
        [program(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode not in statuses:
        said = done.stderr.strip() or f"ccltap {arguments[0]} ended with {done.returncode}"
        raise Error(said)
    return done.stdout


def replace(arguments: Sequence[str]) -> None:
    """Becomes the program."""
    os.execv(program(), ["ccltap", *arguments])
