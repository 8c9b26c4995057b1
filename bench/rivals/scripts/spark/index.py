from pyspark.sql.functions import array_sort, collect_list, concat, concat_ws, explode, lit

from session import source, target, words

counts = words(source).select("file", explode("words").alias("word")).groupBy("word", "file").count()
files = array_sort(collect_list(concat("file", lit(":"), "count")))
lists = counts.groupBy("word").agg(files.alias("files"))
lists.select(concat_ws("\t", "word", "files")).write.text(target)
