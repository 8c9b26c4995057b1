from session import db, source, write

dimensions = range(8)
names = ", ".join(f"x{d}" for d in dimensions)
types = "{" + ", ".join(f"'x{d}': 'DOUBLE'" for d in dimensions) + "}"
db.execute(f"CREATE TABLE points AS SELECT * FROM read_csv('{source}/points', delim=' ', header=false, columns={types})")
with open(f"{source}/centres") as lines:
    centres = [[float(x) for x in line.split()] for line in lines]
for _ in range(10):
    distances = [" + ".join(f"(x{d} - {c[d]!r}) * (x{d} - {c[d]!r})" for d in dimensions) for c in centres]
    means = ", ".join(f"avg(x{d})" for d in dimensions)
    found = db.execute(f"""
        WITH assigned AS (SELECT {names}, [{", ".join(distances)}] AS distances FROM points)
        SELECT list_position(distances, list_min(distances)) - 1 AS centre, {means}, count(*)
        FROM assigned GROUP BY centre""").fetchall()
    counts = [0] * len(centres)
    for number, *mean, count in found:
        centres[number], counts[number] = mean, count
rows = ", ".join(f"({n}, '{' '.join(map(repr, c))}', {counts[n]})" for n, c in enumerate(centres))
write(f"SELECT * FROM (VALUES {rows})")
