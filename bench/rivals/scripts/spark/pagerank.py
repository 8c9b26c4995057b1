from pyspark.sql.functions import coalesce, col, count, lit, sum, when

from session import rounds, rows, source, write

edges = rows(source, "source LONG, target LONG").cache()
links = edges.groupBy(col("source").alias("node")).agg(count("*").alias("links"))
nodes = edges.selectExpr("source AS node").union(edges.select("target")).distinct()
nodes = nodes.join(links, "node", "left").select("node", coalesce("links", lit(0)).alias("links"), lit(1.0).alias("rank"))
for _ in range(rounds):
    nodes = nodes.localCheckpoint()
    stranded = nodes.agg(sum(when(col("links") == 0, col("rank")).otherwise(0.0)) / count("*")).first()[0]
    shares = nodes.where("links > 0").select(col("node").alias("source"), (col("rank") / col("links")).alias("share"))
    received = edges.join(shares, "source").groupBy(col("target").alias("node")).agg(sum("share").alias("share"))
    rank = 0.15 + 0.85 * (coalesce("share", lit(0.0)) + stranded)
    nodes = nodes.join(received, "node", "left").select("node", "links", rank.alias("rank"))
write(nodes.select("node", "rank"))
