import polars as pl

from session import rows, source, write

write(rows(source, key=pl.String).group_by("key").len())
