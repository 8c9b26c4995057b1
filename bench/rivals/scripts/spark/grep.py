import os

from pyspark.sql.functions import col, explode, lit, regexp_extract_all

from session import source, spark, write

found = spark.read.text(source).select(explode(regexp_extract_all("value", lit(os.environ["REGEX"]), lit(0))).alias("match"))
write(found.groupBy("match").count().select("count", "match").orderBy(col("count").desc(), "match"))
