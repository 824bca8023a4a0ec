# SPDX-License-Identifier: MIT
"""What the driver double writes down, the rows, and events as babeltrace2 prints them:
what the comparisons in tests/cuda and tests/cupti read."""
import re


def values(text):
    """The fields of an event."""
    return {name: value.strip('"') for name, value in
            re.findall(r"(\w+) = (\"[^\"]*\"|[^,\s\[\]{}]+)", text)}


def events(lines, layers):
    """When, layer, name and fields of each event of these layers."""
    for line in lines:
        match = re.match(rf"\[(\d+)\] .* ({'|'.join(layers)}):(\w+): (.*)", line)
        if match:
            yield int(match[1]), match[2], match[3], values(match[4])


def entries(path, *words):
    """The first word and the fields of each line of the log that begins with one of these."""
    with open(path, encoding="ascii") as file:
        for line in file:
            word, *fields = line.split()
            if word in words:
                yield word, dict(field.split("=", 1) for field in fields)


def read_rows(path):
    """The row of each name, as list-calls --cuda prints them."""
    with open(path, encoding="ascii") as file:
        return {name: row for name, row, _ in map(str.split, file)}
