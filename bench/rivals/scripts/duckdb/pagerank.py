from session import db, rows, source, write

db.execute(f"CREATE TABLE edges AS SELECT * FROM {rows(source, source='BIGINT', target='BIGINT')}")
db.execute("""
    CREATE TABLE nodes AS
    SELECT node, count(target) AS links, 1.0::DOUBLE AS rank
    FROM (SELECT source AS node, target FROM edges UNION ALL SELECT target, NULL FROM edges)
    GROUP BY node""")
for _ in range(10):
    db.execute("""
        CREATE OR REPLACE TABLE nodes AS
        WITH received AS (SELECT target AS node, sum(rank / links) AS rank
                          FROM edges JOIN nodes ON source = node GROUP BY target),
             stranded AS (SELECT coalesce(sum(rank) FILTER (links = 0), 0) / count(*) AS rank FROM nodes)
        SELECT node, links, 0.15 + 0.85 * (coalesce(received.rank, 0) + (SELECT rank FROM stranded)) AS rank
        FROM nodes LEFT JOIN received USING (node)""")
write("SELECT node, rank FROM nodes")
