# SPDX-License-Identifier: MIT
"""Puts a table that was measured between the marks of a page of documentation."""


def put(path, table):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begin, rest = text.split("<!-- table -->\n", 1)
    end = rest.split("<!-- end of table -->\n", 1)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{begin}<!-- table -->\n{table}\n<!-- end of table -->\n{end}")
