#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what Spark and DuckDB answer to each question of ccltap-query(1).

usage: spark.py [--only NAME,...] CCLTAP MASTER FOLDER...

By hand, with pyspark and Java; MASTER is as 'local-cluster[2,1,1024]', a cluster of two workers.
Each question is asked of all folders together, and diff of the first two, where there are two.  What each engine took is
said in seconds, with Spark's start and registering left out.
"""
import argparse
import csv
import io
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

SHARE = Path(__file__).resolve().parents[2] / "share" / "ccltap"
sys.path.insert(0, str(SHARE / "spark"))


def alike(value):
    """What one engine writes 2.0 the other writes 2.00."""
    try:
        return float(value)
    except ValueError:
        return value


def rows(columns, values):
    return tuple(columns), Counter(tuple(alike(value) for value in row) for row in values)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--only", type=lambda text: text.split(","))
    for name in "ccltap", "master":
        parser.add_argument(name)
    parser.add_argument("folders", nargs="+")
    how = parser.parse_args()
    ccltap, folders = how.ccltap, how.folders
    unknown = set(how.only or ()) - {path.stem for path in (SHARE / "sql").glob("*.sql")}
    if unknown:
        parser.error(f"no question {' or '.join(sorted(unknown))}")
    os.environ["PYSPARK_SUBMIT_ARGS"] = \
        f"--master {how.master} --conf spark.ui.enabled=false pyspark-shell"
    import ccltap_tables

    spark = ccltap_tables.make_session()
    spark.sparkContext.setLogLevel("ERROR")
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    failures, registered = 0, None
    for question in sorted((SHARE / "sql").glob("*.sql")):
        if (how.only and question.stem not in how.only) or \
                (question.stem == "diff" and len(folders) < 2):
            continue
        asked = folders[:2] if question.stem == "diff" else folders
        if asked != registered:
            ccltap_tables.register(spark, *asked)
        registered = asked
        begin = time.monotonic()
        answer = spark.sql(question.read_text())
        by_spark = rows(answer.columns, [["" if value is None else str(value) for value in row]
                                         for row in answer.collect()])
        middle = time.monotonic()
        text = subprocess.run([ccltap, "query", "--format", "csv", question.stem, *asked],
                              check=True, capture_output=True, text=True,
                              env=dict(os.environ, CCLTAP_SQLDIR=str(SHARE / "sql"))).stdout
        end = time.monotonic()
        lines = list(csv.reader(io.StringIO(text)))
        by_duckdb = rows(lines[0], lines[1:]) if lines else rows(answer.columns, [])
        is_same = by_spark == by_duckdb
        failures += not is_same
        print(f"{'ok' if is_same else 'not ok'} - {question.stem}: {len(lines) - 1} rows, Spark "
              f"{middle - begin:.1f} s, DuckDB {end - middle:.1f} s", flush=True)
        for name, left, right in (("Spark", by_spark, by_duckdb), ("DuckDB", by_duckdb, by_spark)):
            for row in list(left[1] - right[1])[:3]:
                print(f"# only {name}: {row}")
    spark.stop()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
