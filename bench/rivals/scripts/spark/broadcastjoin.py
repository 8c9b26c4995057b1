from pyspark.sql.functions import broadcast, count, sum

from session import rows, source, write

customers = rows(f"{source}/customers", "customer STRING, region STRING")
orders = rows(f"{source}/orders", "customer STRING, amount LONG, item STRING")
write(orders.join(broadcast(customers), "customer").groupBy("region").agg(sum("amount"), count("*")))
