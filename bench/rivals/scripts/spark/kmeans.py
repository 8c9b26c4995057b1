from pyspark.sql.functions import expr

from session import rounds, rows, source, spark, write

names = [f"x{d}" for d in range(8)]
points = rows(f"{source}/points", ", ".join(f"{n} DOUBLE" for n in names), " ").cache()
centres = [[float(x) for x in line.value.split()] for line in spark.read.text(f"{source}/centres").collect()]
for _ in range(rounds):
    distances = [" + ".join(f"({n} - {x!r}D) * ({n} - {x!r}D)" for n, x in zip(names, c)) for c in centres]
    assigned = points.withColumn("distances", expr(f"array({', '.join(distances)})"))
    nearest = expr("int(array_position(distances, array_min(distances))) - 1")
    found = assigned.groupBy(nearest.alias("centre")).agg(*(expr(f"avg({n})") for n in names), expr("count(*)"))
    counts = [0] * len(centres)
    for number, *mean, count in found.collect():
        centres[number], counts[number] = mean, count
result = [(n, " ".join(map(repr, c)), counts[n]) for n, c in enumerate(centres)]
write(spark.createDataFrame(result, "centre INT, at STRING, points LONG"))
