import polars as pl

from session import rows, source, write

edges = rows(source, source=pl.Int64, target=pl.Int64).collect()
links = edges.lazy().group_by(pl.col("source").alias("node")).len("links")
nodes = pl.concat([edges["source"], edges["target"]]).unique().alias("node").to_frame().lazy()
nodes = nodes.join(links, on="node", how="left").with_columns(pl.col("links").fill_null(0), rank=pl.lit(1.0)).collect()
for _ in range(10):
    stranded = nodes.filter(pl.col("links") == 0)["rank"].sum() / len(nodes)
    shares = nodes.lazy().select("node", share=pl.col("rank") / pl.col("links"))
    received = (edges.lazy().join(shares, left_on="source", right_on="node")
                .group_by(pl.col("target").alias("node")).agg(pl.col("share").sum()))
    rank = 0.15 + 0.85 * (pl.col("share").fill_null(0.0) + stranded)
    nodes = nodes.lazy().join(received, on="node", how="left").select("node", "links", rank=rank).collect()
write(nodes.lazy().select("node", "rank"))
