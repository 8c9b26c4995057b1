from pyspark.sql.functions import coalesce, col, count, lag, lit, max, min, sum
from pyspark.sql.window import Window

from session import log, write

user = Window.partitionBy("user").orderBy("at")
fresh = coalesce(col("at") - lag("at").over(user) > 1800, lit(False)).cast("int")
visits = log().select("user", "at", fresh.alias("fresh"))
sessions = visits.withColumn("session", sum("fresh").over(user)).groupBy("user", "session")
write(sessions.agg(min("at"), max("at"), count("*")).drop("session"))
