import polars as pl

from session import rows, source, write

customers = rows(f"{source}/customers", customer=pl.String, region=pl.String)
orders = rows(f"{source}/orders", customer=pl.String, amount=pl.Int64, item=pl.String)
joined = orders.join(customers, on="customer")
write(joined.group_by("region").agg(pl.col("amount").sum(), pl.len()))
