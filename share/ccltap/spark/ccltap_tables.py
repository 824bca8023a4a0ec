#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the tables of ccltap-export(1) the questions of ccltap-query(1), by Spark.

usage: spark-submit ccltap_tables.py [--sql SQL | --file QUESTION.sql] FOLDER...

As a module, register() makes each table a temporary view of the folders; then spark.sql() runs the
same files as "ccltap query": the engine is Spark, and nothing here is one.
"""
import argparse
import csv
import sys

# Spark has no other name for a text.
TYPES = {"BIGINT": "BIGINT", "VARCHAR": "STRING", "BOOLEAN": "BOOLEAN"}

FORMATS = {
    "parquet": {},
    "csv": {"header": True, "quote": '"', "escape": '"', "multiLine": True},
    "jsonl": {},
}


def make_session():
    from pyspark.sql import SparkSession

    return (SparkSession.builder.appName("ccltap")
            # A host whose name is digits is a name.
            .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
            .getOrCreate())


def read_columns(spark, folder):
    """The columns of each table: {"call": [("process", "BIGINT"), ...], ...}."""
    lines = [row.value for row in spark.read.text(f"{folder}/columns.csv").collect()]
    tables = {}
    for row in csv.DictReader(lines):
        tables.setdefault(row["table"], []).append((row["column"], TYPES[row["type"]]))
    return tables


def read_table(spark, folder, table, columns):
    """A table of one folder, whose hosts may have come in different formats."""
    from pyspark.errors import AnalysisException

    schema = ", ".join(f"`{name}` {kind}" for name, kind in columns)
    frames = []
    for suffix, options in FORMATS.items():
        reader = spark.read.option("basePath", f"{folder}/{table}").schema(f"{schema}, host STRING")
        try:
            frames.append(reader.format("json" if suffix == "jsonl" else suffix)
                          .options(**options).load(f"{folder}/{table}/host=*/*.{suffix}"))
        except AnalysisException as error:
            if "PATH_NOT_FOUND" not in str(error):
                raise
    if not frames:
        raise FileNotFoundError(f"no table {table} in {folder}: the export was not completed")
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame)
    return whole


def register(spark, *folders):
    """Makes each table a temporary view of all folders, with columns host and run, from 1."""
    from pyspark.sql.functions import lit

    for table in read_columns(spark, folders[0]):
        whole = None
        for run, folder in enumerate(folders, 1):
            columns = read_columns(spark, folder)[table]
            frame = read_table(spark, folder, table, columns).withColumn(
                "run", lit(run).cast("bigint"))
            whole = frame if whole is None else whole.unionByName(frame, allowMissingColumns=True)
        whole.createOrReplaceTempView(table)


def main():
    parser = argparse.ArgumentParser(description="Asks the tables of ccltap export, by Spark.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    question = parser.add_mutually_exclusive_group(required=True)
    question.add_argument("--sql", help="ask this")
    question.add_argument("--file", help="ask what is in this file, as share/ccltap/sql/skew.sql")
    arguments = parser.parse_args()

    sql = arguments.sql
    if not sql:
        with open(arguments.file, encoding="utf-8") as file:
            sql = file.read()
    try:
        spark = make_session()
    except ImportError:
        sys.exit('ccltap_tables: no pyspark: run this with spark-submit, or "pip install pyspark"')
    register(spark, *arguments.folders)
    answer = spark.sql(sql)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.columns)
    for row in answer.toLocalIterator():
        writer.writerow("" if value is None else value for value in row)
    spark.stop()


if __name__ == "__main__":
    main()
