from pyspark.sql.functions import count, sum

from session import rows, source, spark, write

spark.conf.set("spark.sql.autoBroadcastJoinThreshold", -1)
customers = rows(f"{source}/customers", "customer STRING, region STRING")
orders = rows(f"{source}/orders", "customer STRING, amount LONG, item STRING")
write(orders.join(customers, "customer").groupBy("region").agg(sum("amount"), count("*")))
