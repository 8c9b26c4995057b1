import polars as pl

from session import source, write

lines = pl.scan_csv(f"{source}/*.txt", separator="\t", has_header=False, quote_char=None,
                    schema={"line": pl.String}, include_file_paths="file")
counts = (lines.select(pl.col("line").str.split(" ").alias("word"), pl.col("file").str.split("/").list.last())
          .explode("word").group_by("word", "file").len())
write(counts.sort("file").group_by("word", maintain_order=True)
      .agg(pl.format("{}:{}", "file", "len").str.join("\t")))
