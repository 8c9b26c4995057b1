from pyspark.sql.functions import col, count, lag, max, min, sum
from pyspark.sql.window import Window

from session import log, write

user = Window.partitionBy("user").orderBy("at")
fresh = (col("at") - lag("at").over(user) > 1800).cast("int")
visits = log().select("user", "at", fresh.alias("fresh"))
sessions = visits.withColumn("session", sum("fresh").over(user)).groupBy("user", "session")
write(sessions.agg(min("at"), max("at"), count("*")).drop("session"))
