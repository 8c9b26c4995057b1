from session import log, write

write(f"SELECT DISTINCT usr, page FROM {log()}")
