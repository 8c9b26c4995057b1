from session import rows, source, write

lines = rows(f"{source}/*.txt", line="VARCHAR")
write(f"""
    SELECT word, string_agg(file || ':' || times, '\t' ORDER BY file)
    FROM (SELECT word, file, count(*) AS times
          FROM (SELECT unnest(string_split(line, ' ')) AS word, parse_filename(filename) AS file FROM {lines})
          GROUP BY word, file)
    GROUP BY word""")
