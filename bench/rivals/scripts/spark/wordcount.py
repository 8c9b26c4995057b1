from pyspark.sql.functions import explode

from session import source, words, write

write(words(source).select(explode("words").alias("word")).groupBy("word").count())
