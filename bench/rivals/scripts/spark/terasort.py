from session import source, spark, target

spark.read.text(source).sort("value").write.text(target)
