"""What all scripts of Polars share: how it reads and writes lines."""
import sys

import polars as pl

source, target = sys.argv[1:3]


def rows(path, separator="\t", **columns):
    """Lines of columns, read lazily."""
    return pl.scan_csv(path, separator=separator, has_header=False, quote_char=None, schema=columns)


def log():
    return rows(source, at=pl.Int64, user=pl.String, page=pl.String, millis=pl.Int64)


def write(frame):
    frame.sink_csv(target, separator="\t", include_header=False, quote_style="never")
