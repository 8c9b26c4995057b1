"""What all scripts of DuckDB share: the database, and how it reads and writes lines."""
import os
import sys

import duckdb

source, target = sys.argv[1:3]
db = duckdb.connect(config={"temp_directory": os.environ["TMPDIR"], "preserve_insertion_order": "false"})


def rows(path, **columns):
    """A table function that reads lines of columns with tabs between."""
    types = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items()) + "}"
    return (f"read_csv('{path}', columns={types}, delim='\t', header=false, quote='', escape='', "
            f"auto_detect=false, max_line_size=100000000)")


def log():
    return rows(source, seconds="BIGINT", usr="VARCHAR", page="VARCHAR", millis="BIGINT")


def write(query):
    db.execute(f"COPY ({query}) TO '{target}' (DELIMITER '\t', HEADER false, QUOTE '', ESCAPE '')")
