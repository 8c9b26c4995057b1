from pyspark.sql.functions import col

from session import log, write

views = log().groupBy("page").count()
write(views.orderBy(col("count").desc(), "page").limit(100).coalesce(1))
