from session import log, write

write(f"SELECT page, count(*) AS views FROM {log()} GROUP BY page ORDER BY views DESC, page LIMIT 100")
