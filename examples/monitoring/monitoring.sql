-- Measurements of machines: which key for which question. Run it in this folder:
--   sqlots sql < monitoring.sql
DROP DATABASE IF EXISTS example_monitoring;
CREATE DATABASE example_monitoring;
USE example_monitoring;

-- Time first: all that is new is written at one end of the table, and one
-- machine's values lie scattered. This is the table not to make.
CREATE TABLE by_time (ts BIGINT, ip VARCHAR(15) CHARACTER SET ascii, cpu INT, PRIMARY KEY (ts, ip));

-- Machine first: writes go to as many places as there are machines, and a
-- machine's values are one range. A row is forgotten after thirty days.
CREATE TABLE by_machine (
  ip VARCHAR(15) CHARACTER SET ascii,
  ts BIGINT,
  cpu INT,
  at DATETIME AS (DATE_ADD('1970-01-01', INTERVAL ts SECOND)) STORED,
  PRIMARY KEY (ip, ts)
);

-- Addresses of one network begin alike; a hash before them spreads them too.
CREATE TABLE by_hash (
  h  CHAR(4) CHARACTER SET ascii AS (LEFT(MD5(ip), 4)) STORED,
  ip VARCHAR(15) CHARACTER SET ascii,
  ts BIGINT,
  cpu INT,
  PRIMARY KEY (h, ip, ts)
);

-- Sixteen buckets: writes go to sixteen places, and each bucket is in the order
-- of time. The latest of all are the latest of each, merged.
CREATE TABLE by_bucket (
  bucket TINYINT AS (ts % 16) STORED,
  ts BIGINT,
  ip VARCHAR(15) CHARACTER SET ascii,
  cpu INT,
  PRIMARY KEY (bucket, ts, ip)
);

-- Twenty machines, a value every 15 seconds, for half an hour.
INSERT INTO by_machine (ip, ts, cpu)
WITH RECURSIVE m AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM m WHERE i < 20),
  t AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM t WHERE i < 119)
SELECT CONCAT('10.0.0.', m.i), 1700000000 + 15 * t.i + m.i % 3, (m.i * 7 + t.i * t.i) % 100 FROM m, t;
INSERT INTO by_time SELECT ts, ip, cpu FROM by_machine;
INSERT INTO by_hash (ip, ts, cpu) SELECT ip, ts, cpu FROM by_machine;
INSERT INTO by_bucket (ts, ip, cpu) SELECT ts, ip, cpu FROM by_machine;
ANALYZE TABLE by_time, by_machine, by_hash, by_bucket;

-- A machine in some time: a range where the machine comes first.
SELECT COUNT(*), MIN(cpu), MAX(cpu), AVG(cpu) FROM by_machine WHERE ip = '10.0.0.7' AND ts BETWEEN 1700000300 AND 1700000900;
EXPLAIN FORMAT=TREE SELECT cpu FROM by_machine WHERE ip = '10.0.0.7' AND ts BETWEEN 1700000300 AND 1700000900;
EXPLAIN FORMAT=TREE SELECT cpu FROM by_hash WHERE h = LEFT(MD5('10.0.0.7'), 4) AND ip = '10.0.0.7' AND ts BETWEEN 1700000300 AND 1700000900;

-- The latest of all machines: one short scan where time comes first. From the
-- buckets it is a merge of sixteen short scans, which the planner makes of the
-- order alone: nothing in the query names a bucket. A LIMIT of 5 reads 5 rows,
-- and one of each bucket.
SELECT ts, ip, cpu FROM by_time ORDER BY ts DESC, ip DESC LIMIT 5;
SELECT ts, ip, cpu FROM by_bucket ORDER BY ts DESC, ip DESC LIMIT 5;
EXPLAIN FORMAT=TREE SELECT ts, ip, cpu FROM by_bucket ORDER BY ts DESC, ip DESC LIMIT 5;

-- From some time on, and the next page, by the key of the last row.
SELECT ts, ip, cpu FROM by_bucket WHERE ts >= 1700000600 ORDER BY ts, ip LIMIT 3;
SELECT ts, ip, cpu FROM by_bucket WHERE (ts, ip) > (1700000600, '10.0.0.18') ORDER BY ts, ip LIMIT 3;
EXPLAIN FORMAT=TREE SELECT ts, ip, cpu FROM by_bucket WHERE ts >= 1700000600 ORDER BY ts, ip LIMIT 3;

-- All machines in a minute, from the buckets: their number is known, so that
-- each is a range.
SELECT COUNT(*), SUM(cpu) FROM by_bucket
WHERE bucket IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) AND ts BETWEEN 1700000600 AND 1700000659;
EXPLAIN FORMAT=TREE SELECT COUNT(*), SUM(cpu) FROM by_bucket
WHERE bucket IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) AND ts BETWEEN 1700000600 AND 1700000659;
SELECT COUNT(*), SUM(cpu) FROM by_time WHERE ts BETWEEN 1700000600 AND 1700000659;

-- By minute, and which machines were above 90 most often.
SELECT FROM_UNIXTIME(ts - ts % 600, '%i') AS minutes, COUNT(*), ROUND(AVG(cpu), 2) FROM by_machine GROUP BY minutes ORDER BY minutes;
SELECT ip, COUNT(*) AS high FROM by_machine WHERE cpu > 90 GROUP BY ip ORDER BY high DESC, ip LIMIT 3;

-- Expiry: the machine's clock decides when a value is too old. These are of
-- 2023, so that a table of thirty days shows none of them.
ALTER TABLE by_machine TTL = at + INTERVAL 30 DAY;
SELECT COUNT(*) FROM by_machine;
INSERT INTO by_machine (ip, ts, cpu) VALUES ('10.0.0.1', UNIX_TIMESTAMP(), 50);
SELECT COUNT(*) FROM by_machine;

-- A meter: a value every 15 seconds, 5760 a day, ten of them in error. Only
-- those have an entry in the index.
CREATE TABLE meter (
  meter BIGINT, ts BIGINT, kwh DECIMAL(10,3), state VARCHAR(10) NOT NULL DEFAULT 'ok',
  PRIMARY KEY (meter, ts),
  KEY errors (meter, ts) WHERE state = 'error'
);
SET cte_max_recursion_depth = 6000;
INSERT INTO meter
WITH RECURSIVE t AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM t WHERE i < 5759)
SELECT 1, 1700006400 + 15 * i, i / 1000, IF(i % 576 = 100, 'error', 'ok') FROM t;
SELECT COUNT(*) FROM meter WHERE meter = 1 AND ts >= 1700006400 AND ts < 1700092800;
SELECT (ts - 1700006400) DIV 15 AS number, kwh FROM meter WHERE meter = 1 AND ts >= 1700006400 AND ts < 1700092800 AND state = 'error';
EXPLAIN FORMAT=TREE SELECT ts, kwh FROM meter WHERE meter = 1 AND ts >= 1700006400 AND ts < 1700092800 AND state = 'error';
