# SPDX-License-Identifier: MIT
"""Compares the rules that we read from a file's unwind tables with readelf's.

rules.py RULES FILE: RULES is the program of rules.c.  Prints how many rows were compared.
"""
import os
import re
import subprocess
import sys

IS_ARM = os.uname().machine == "aarch64"
SP, FP = ("sp", "x29") if IS_ARM else ("rsp", "rbp")


def rows(file):
    """Address, signal frame or not, and what each register is there."""
    # Its status is an error where the file's debug information is elsewhere.
    text = subprocess.run(["readelf", "-wNF", file], capture_output=True, text=True,
                          check=False, errors="replace").stdout
    signal_cies = set()
    cie = columns = None
    for line in text.splitlines():
        words = line.split()
        match = re.search(r"(CIE|FDE cie=([0-9a-f]+))", line)
        if match:
            cie, columns = (words[0] if match[1] == "CIE" else match[2]), None
            is_cie = match[1] == "CIE"
            if is_cie and re.search(r'CIE "[^"]*S', line):
                signal_cies.add(cie)
        elif words[:2] == ["LOC", "CFA"]:
            columns = words[1:]
        elif columns and len(words) == len(columns) + 1 and not is_cie:
            yield int(words[0], 16), cie in signal_cies, dict(zip(columns, words[1:]))


def expected(is_signal, row):
    """Ours for it; None where only a look at the expression could tell."""
    if is_signal:
        return "signal"
    address = row.get("ra", "u")  # on aarch64 no column, or "u", is the register itself
    saved = row.get(FP, "u")
    if address == "u" and not IS_ARM:
        return "start"
    if row["CFA"] == "exp" or "exp" in (saved, address) or not IS_ARM and address != "c-8":
        return None
    register, offset = re.match(r"(\w+)([+-]\d+)$", row["CFA"]).groups()
    if register not in (SP, FP):
        return "unknown"
    rule = f"{'sp' if register == SP else 'fp'} {int(offset)}"
    if not IS_ARM:
        return f"{rule} same" if saved in ("u", "s") else f"{rule} at-cfa {int(saved[1:])}"
    if saved in ("u", "s"):
        if address in ("u", "s"):
            return f"{rule} same|start"
        return f"{rule} same-ra-at-cfa {int(address[1:])}"
    if address in ("u", "s") or int(address[1:]) != int(saved[1:]) + 8:
        return "unknown"
    return f"{rule} at-cfa {int(saved[1:])}"


def main():
    program, file = sys.argv[1:]
    # A row that the next one of its function replaces at once is at no address.
    wanted = {address: (is_signal, row) for address, is_signal, row in rows(file)}
    assert len(wanted) > 10, "readelf shows no unwind tables"
    said = subprocess.run([program, file], input="\n".join(map("{:x}".format, wanted)),
                          capture_output=True, text=True, check=True).stdout
    compared = expressions = 0
    for line in said.splitlines():
        address, rule = line.split(" ", 1)
        rule = re.sub(r"^(signal|start|unknown).*", r"\1", rule)
        rule = re.sub(r" same 0$", " same", rule)
        is_signal, row = wanted[int(address, 16)]
        expect = expected(is_signal, row)
        if expect is None:
            # Followed where it is the frame pointer's, else not known: never as a plain
            # register.
            assert re.match(r"unknown|at-fp|\w+ -?\d+ at-fp", rule), (line, row)
            expressions += rule != "unknown"
        else:
            assert rule in expect.split("|"), f"{line}: {row} should be {expect}"
            compared += 1
    assert compared + expressions > 10
    print(compared, expressions)


main()
