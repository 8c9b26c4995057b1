"""What all scripts of Spark share: the session, and how it reads and writes lines."""
import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, split

source, target = sys.argv[1:3]
rounds = int(os.environ.get("ROUNDS", 10))
builder = SparkSession.builder.config("spark.ui.enabled", False)
if "PYSPARK_SUBMIT_ARGS" not in os.environ:  # it names a cluster, with the settings of its machines
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2 >> 20
    builder = (builder.master("local[*]")
               .config("spark.driver.memory", f"{memory}m")
               .config("spark.local.dir", os.environ["TMPDIR"])
               .config("spark.sql.shuffle.partitions", 4 * os.cpu_count()))
spark = builder.getOrCreate()


def rows(path, schema, separator="\t"):
    """Lines of columns; the schema names them with their types."""
    return spark.read.csv(path, schema=schema, sep=separator, quote="")


def log():
    return rows(source, "at LONG, user STRING, page STRING, millis LONG")


def words(path):
    """The words of text files, with the file of each."""
    name = os.environ.get("FILE_NAMES", "file_name")  # or file_path, which is the full name
    return spark.read.text(path).select(col(f"_metadata.{name}").alias("file"), split("value", " ").alias("words"))


def write(frame):
    frame.write.csv(target, sep="\t", quote="")
