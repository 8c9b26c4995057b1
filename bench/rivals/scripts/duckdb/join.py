from session import rows, source, write

customers = rows(f"{source}/customers", customer="VARCHAR", region="VARCHAR")
orders = rows(f"{source}/orders", customer="VARCHAR", amount="BIGINT", item="VARCHAR")
write(f"SELECT region, sum(amount), count(*) FROM {orders} JOIN {customers} USING (customer) GROUP BY region")
