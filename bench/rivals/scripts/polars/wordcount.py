import polars as pl

from session import rows, source, write

words = rows(f"{source}/*", line=pl.String).select(pl.col("line").str.split(" ").alias("word")).explode("word")
write(words.group_by("word").len())
