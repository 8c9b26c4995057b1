import polars as pl

from session import rows, source, write

names = [f"x{d}" for d in range(8)]
points = rows(f"{source}/points", separator=" ", **dict.fromkeys(names, pl.Float64)).collect()
with open(f"{source}/centres") as lines:
    centres = [[float(x) for x in line.split()] for line in lines]
for _ in range(10):
    distances = [sum((pl.col(n) - x) ** 2 for n, x in zip(names, c)) for c in centres]
    nearest = pl.concat_list(distances).list.arg_min().alias("centre")
    found = points.lazy().with_columns(nearest).group_by("centre").agg(pl.col(names).mean(), pl.len()).collect()
    counts = [0] * len(centres)
    for number, *mean, count in found.iter_rows():
        centres[number], counts[number] = mean, count
result = {"centre": range(len(centres)), "at": [" ".join(map(repr, c)) for c in centres], "points": counts}
write(pl.LazyFrame(result))
