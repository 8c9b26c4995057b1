import polars as pl

from session import log, write

visits = log().select("user", "at").sort("user", "at")
fresh = (pl.col("user") != pl.col("user").shift()) | (pl.col("at") - pl.col("at").shift() > 1800)
sessions = visits.with_columns(fresh.fill_null(True).cum_sum().alias("session")).group_by("session", "user")
write(sessions.agg(pl.col("at").min().alias("first"), pl.col("at").max().alias("last"), pl.len()).drop("session"))
