#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The screens in README.md and in the manual pages are what the tool prints.

usage: screens.py FOLDER FILE...: prints a line of TAP for each screen; with SCREENS_UPDATE set it
puts what the tool prints now in the place of each that differs.

FOLDER has the traces, and the tool is found in PATH.  A screen is what stands between these lines,
after the command itself in Markdown, and between .nf and .fi in a manual page:

    <!-- screen: ccltap why hung -->            .\\" screen: ccltap why hung
    <!-- end of screen -->                      .\\" end of screen

The command is one of the shell's, run in FOLDER with 100 columns.
"""
import difflib
import os
import re
import subprocess
import sys

MARKDOWN = re.compile(r"^<!-- screen: (?P<command>[^\n]*) -->\n(?P<text>.*?)^<!-- end of screen -->\n",
                      re.MULTILINE | re.DOTALL)
MANUAL = re.compile(r"^\.\\\" screen: (?P<command>[^\n]*)\n(?P<text>.*?)^\.\\\" end of screen\n",
                    re.MULTILINE | re.DOTALL)


def output_of(command, folder):
    environment = dict(os.environ, COLUMNS="100", LINES="24", TZ="UTC", LC_ALL="C.UTF-8",
                       NO_COLOR="1")
    ran = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, timeout=120,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True)
    return [line.rstrip() for line in ran.stdout.splitlines()]


def in_markdown(command, lines):
    return "\n" + "".join(f"    {line}\n" if line else "\n" for line in ["$ " + command, *lines]) \
        + "\n"


def in_manual(command, lines):
    def escaped(line):
        line = line.replace("\\", "\\e").replace("-", "\\-")
        return "\\&" + line if line[:1] in (".", "'") else line
    return "".join(line + "\n" for line in [".nf", escaped("$ " + command), *map(escaped, lines),
                                            ".fi"])


def check(path, folder):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    is_markdown = path.endswith(".md")
    pattern, form = (MARKDOWN, in_markdown) if is_markdown else (MANUAL, in_manual)

    def replace(match):
        command, old = match["command"], match["text"]
        new = form(command, output_of(command, folder))
        print(f"{'not ' * (old != new)}ok - {os.path.basename(path)}: {command}")
        for line in difflib.unified_diff(old.splitlines(), new.splitlines(), "written", "printed",
                                         lineterm=""):
            print("# " + line)
        begin, end = (position - match.start() for position in match.span("text"))
        return match[0][:begin] + new + match[0][end:]

    replaced = pattern.sub(replace, text)
    if replaced != text and os.environ.get("SCREENS_UPDATE"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(replaced)


def main():
    for path in sys.argv[2:]:
        check(path, sys.argv[1])


if __name__ == "__main__":
    main()
