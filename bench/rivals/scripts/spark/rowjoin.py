from session import rows, source, spark, write

spark.conf.set("spark.sql.autoBroadcastJoinThreshold", -1)
customers = rows(f"{source}/customers", "customer STRING, region STRING")
orders = rows(f"{source}/orders", "customer STRING, amount LONG, item STRING")
write(customers.join(orders, "customer").select("customer", "region", "amount", "item"))
