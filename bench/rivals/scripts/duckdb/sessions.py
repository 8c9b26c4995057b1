from session import log, write

write(f"""
    SELECT usr, min(seconds), max(seconds), count(*)
    FROM (SELECT usr, seconds, sum(fresh) OVER (PARTITION BY usr ORDER BY seconds) AS session
          FROM (SELECT usr, seconds,
                       CASE WHEN seconds - lag(seconds) OVER (PARTITION BY usr ORDER BY seconds) > 1800 THEN 1 ELSE 0 END AS fresh
                FROM {log()}))
    GROUP BY usr, session""")
