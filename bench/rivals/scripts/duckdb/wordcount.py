from session import rows, source, write

write(f"""
    SELECT word, count(*)
    FROM (SELECT unnest(string_split(line, ' ')) AS word FROM {rows(source + "/*", line="VARCHAR")})
    GROUP BY word""")
