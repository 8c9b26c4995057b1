from session import rows, source, write

write(f"SELECT key, count(*) FROM {rows(source, key='VARCHAR')} GROUP BY key")
