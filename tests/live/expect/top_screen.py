#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The screen of ccltap top in its manual page is the one here, but for numbers and blanks.

usage: top_screen.py MANUAL SCREEN; with SCREENS_UPDATE set it writes this one into MANUAL.
"""
import difflib
import os
import re
import sys

BLOCK = re.compile(r'(?<=^\.\\" screen of a terminal: ccltap top\n)(?P<text>.*?)(?=^\.\\" end of screen\n)',
                   re.MULTILINE | re.DOTALL)


def alike(lines):
    """What another run has, too."""
    lines = [re.sub(r"\b[0-9a-f]{8}\b|\d[\d.]*[kMGTPE]?", "N", line) for line in lines]
    return [re.sub(" +", " ", line).rstrip() for line in lines]


def main():
    manual, screen = sys.argv[1:]
    with open(manual, encoding="utf-8") as file:
        text = file.read()
    with open(screen, encoding="utf-8") as file:
        shown = [line.rstrip() for line in file]
    match = BLOCK.search(text)
    written = match["text"].replace("\\-", "-").replace("\\&", "").splitlines()[1:-1]
    differences = list(difflib.unified_diff(alike(written), alike(shown), "written", "shown", lineterm=""))
    if differences and os.environ.get("SCREENS_UPDATE"):
        new = "".join(f"{line}\n" for line in [".nf", *(line.replace("-", "\\-") for line in shown), ".fi"])
        with open(manual, "w", encoding="utf-8") as file:
            file.write(text[:match.start()] + new + text[match.end():])
        return
    print("\n".join(differences))
    sys.exit(bool(differences))


main()
