from session import source, spark, write

write(spark.read.text(source).groupBy("value").count())
