from pyspark.sql.functions import array_sort, collect_list, concat, concat_ws, explode, lit

from session import source, words, write

counts = words(source).select("file", explode("words").alias("word")).groupBy("word", "file").count()
files = array_sort(collect_list(concat("file", lit(":"), "count")))
write(counts.groupBy("word").agg(concat_ws("\t", files)))
