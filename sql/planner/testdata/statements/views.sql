# Texts and columns of views, with equal names in several databases and levels.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(10), j JSON, KEY a (a))
CREATE TABLE u (id INT PRIMARY KEY, tid INT, c DECIMAL(8,2), d DATETIME(3))
CREATE TABLE e.t (id INT PRIMARY KEY, a INT, z INT)
CREATE TABLE e.w (id INT PRIMARY KEY, a BIGINT UNSIGNED NOT NULL)
CREATE VIEW v1 AS SELECT * FROM t
CREATE VIEW v2 AS SELECT t.*, w.* FROM t JOIN (SELECT id AS wid, a AS wa FROM e.w) w ON w.wid = t.id
CREATE VIEW v3 AS SELECT d.t.id, e.t.z, d.t.a AS a1, e.t.a AS a2 FROM d.t JOIN e.t ON d.t.id = e.t.id
CREATE VIEW v4 AS SELECT d.t.* FROM d.t JOIN e.t ON d.t.id = e.t.id
CREATE VIEW v5 (p, q) AS SELECT id, (SELECT MAX(c) FROM u WHERE tid = t.id) FROM t
CREATE VIEW v6 AS SELECT id, a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id AND c > a)
CREATE VIEW v7 AS SELECT a, COUNT(*) AS n, SUM(id) s FROM t GROUP BY a HAVING n > 1 ORDER BY s DESC, a LIMIT 3
CREATE VIEW v8 AS SELECT id FROM t UNION ALL SELECT id FROM u UNION SELECT 3 ORDER BY id LIMIT 2
CREATE VIEW v9 AS WITH x AS (SELECT id, a FROM t), y (k) AS (SELECT id FROM x) SELECT x.a, y.k FROM x JOIN y ON x.id = y.k
CREATE VIEW v10 AS WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r
CREATE VIEW v11 AS SELECT id, ROW_NUMBER() OVER w AS r, SUM(a) OVER (w ROWS 2 PRECEDING) AS s FROM t WINDOW w AS (PARTITION BY b ORDER BY id DESC)
CREATE VIEW v12 AS SELECT t.id, jt.x FROM t, JSON_TABLE(t.j, '$[*]' COLUMNS (o FOR ORDINALITY, x INT PATH '$.x' DEFAULT '7' ON EMPTY NULL ON ERROR)) jt
CREATE VIEW v13 AS SELECT t.id, l.m FROM t, LATERAL (SELECT MAX(c) AS m FROM u WHERE u.tid = t.id) l
CREATE VIEW v14 AS SELECT id, 'x''y\\z' AS s, "dq" AS q, x'41' h, b'101' bi, 1.50 de, 1e3 f, NULL n, TRUE tr, DATE'2024-01-02' da, TIMESTAMP'2024-01-02 03:04:05.5' ts, _latin1'a' l, N'n' nn FROM t
CREATE VIEW v15 AS SELECT CASE a WHEN 1 THEN 'one' ELSE b END c1, CASE WHEN a > 1 THEN 1 END c2, IF(a, 1, 2) c3, a IN (1, 2, NULL) c4, a NOT BETWEEN 1 AND 2 c5, b NOT LIKE 'x|%' ESCAPE '|' c6, b REGEXP '^a' c7, NOT a c8, -a c9, ~a c10, a IS NOT TRUE c11, a <=> NULL c12 FROM t
CREATE VIEW v16 AS SELECT CAST(a AS CHAR(5) CHARACTER SET latin1) k1, CONVERT(b USING utf8mb4) k2, CAST(a AS DECIMAL(6,2)) k3, b COLLATE utf8mb4_bin k4, CAST(b AS SIGNED) k5, CAST(b AS DATETIME(3)) k6, CAST(j->'$.a' AS UNSIGNED) k7, j->>'$.b' k8, BINARY b k9 FROM t
CREATE VIEW v17 AS SELECT DATE_ADD(d, INTERVAL c DAY) i1, d - INTERVAL 1 HOUR i2, EXTRACT(YEAR_MONTH FROM d) i3, TIMESTAMPDIFF(MONTH, d, NOW()) i4, TRIM(LEADING 'x' FROM 'xxy') i5, SUBSTRING('abc' FROM 2 FOR 1) i6, POSITION('b' IN 'abc') i7, GET_FORMAT(DATE, 'EUR') i8, WEIGHT_STRING('a' AS CHAR(3)) i9 FROM u
CREATE VIEW v18 AS SELECT COUNT(DISTINCT a, b) g1, GROUP_CONCAT(DISTINCT b ORDER BY a DESC, b SEPARATOR '|') g2, JSON_ARRAYAGG(a) g3, JSON_OBJECTAGG(b, a) g4, STD(a) g5, BIT_OR(a) g6, ANY_VALUE(b) g7 FROM t
CREATE VIEW v19 AS SELECT a, GROUPING(a) g, COUNT(*) FROM t GROUP BY a WITH ROLLUP
CREATE VIEW v20 AS SELECT STRAIGHT_JOIN DISTINCT t.a FROM t LEFT JOIN u ON t.id = u.tid RIGHT JOIN e.w ON w.id = u.id CROSS JOIN (SELECT 1 one) o
CREATE VIEW v21 AS SELECT * FROM t NATURAL JOIN e.w
CREATE VIEW v22 AS SELECT * FROM t NATURAL LEFT JOIN u USE INDEX () WHERE (t.id, a) IN ((1, 2), (3, 4)) AND a > ALL (SELECT c FROM u) AND b = ANY (SELECT 'x')
CREATE VIEW v23 AS SELECT id AS `a b`, a AS `x``y`, 1 + 1, a + 1, b FROM t
CREATE VIEW v24 AS SELECT a, a FROM t
CREATE VIEW v25 (x, y, z) AS SELECT a, b FROM t
CREATE VIEW v26 (x, x) AS SELECT a, b FROM t
CREATE VIEW v27 AS TABLE t
CREATE VIEW v28 AS VALUES ROW(1, 'a'), ROW(2, 'b')
CREATE VIEW v29 AS (SELECT id FROM t ORDER BY a LIMIT 1) UNION (SELECT id FROM u ORDER BY c LIMIT 2)
CREATE VIEW v30 AS SELECT id FROM t EXCEPT SELECT id FROM u INTERSECT SELECT id FROM e.w
CREATE VIEW v31 AS SELECT x.id, y.id AS yid FROM t x JOIN t y ON x.a = y.id WHERE x.b > (SELECT MIN(b) FROM t WHERE t.id < x.id)
CREATE VIEW v32 AS SELECT id FROM t WHERE a = (SELECT a FROM e.w WHERE id = 3)
CREATE VIEW v33 AS SELECT @x
CREATE VIEW v34 AS SELECT * FROM nosuch
CREATE VIEW v35 AS SELECT id FROM t FOR UPDATE
CREATE VIEW v36 AS SELECT id FROM t INTO @x
CREATE VIEW e.v37 AS SELECT id, a FROM d.t
CREATE VIEW v38 AS SELECT v.id, w.id AS wid FROM v1 v JOIN e.w w ON v.a = w.a
CREATE VIEW v39 AS SELECT id, a, b FROM v1 WHERE a > 0 WITH CASCADED CHECK OPTION
CREATE VIEW v40 AS SELECT id, a, b FROM v39 WHERE b <> '' WITH LOCAL CHECK OPTION
CREATE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW v41 AS SELECT id, a + 1 AS a1, b FROM t
CREATE ALGORITHM=TEMPTABLE DEFINER=u@h SQL SECURITY DEFINER VIEW v42 AS SELECT id, a FROM t
CREATE VIEW v43 AS SELECT t.id, t.a, u.c, u.id AS uid FROM t JOIN u ON t.id = u.tid WITH CHECK OPTION
CREATE OR REPLACE VIEW v1 AS SELECT id, a, b, a * 2 AS twice FROM t
ALTER VIEW v23 AS SELECT id, b FROM t
ALTER VIEW nosuch AS SELECT 1
CREATE VIEW t AS SELECT 1
SELECT * FROM v1, v2 WHERE v1.id = v2.wid
SELECT p, q FROM v5 WHERE p < 3 ORDER BY q
SELECT * FROM v7 JOIN v8 ON v7.n = v8.id
SELECT k8, c3 FROM v15, v16
SELECT * FROM e.v37 x JOIN v39 y USING (id)
SELECT v40.* FROM v40 LEFT JOIN v43 ON v40.id = v43.uid WHERE v43.c IS NULL
INSERT INTO v1 (id, a) VALUES (1, 2)
INSERT INTO v1 (id, twice) VALUES (1, 2)
INSERT INTO v39 (id, a, b) VALUES (1, 2, 'x') ON DUPLICATE KEY UPDATE a = VALUES(a), b = a
INSERT INTO v39 (a, id) SELECT c, id FROM u AS new ON DUPLICATE KEY UPDATE a = new.c
INSERT INTO v43 (id, a) VALUES (1, 2)
INSERT INTO v43 (uid, c) VALUES (1, 2)
INSERT INTO v43 (id, c) VALUES (1, 2)
INSERT INTO v7 (a) VALUES (1)
INSERT INTO v42 (id) VALUES (1)
REPLACE INTO v40 VALUES (1, 2, 'x')
UPDATE v1 SET a = a + 1 WHERE twice > 4 ORDER BY id LIMIT 2
UPDATE v40 SET b = 'y', a = 3 WHERE id = 1
UPDATE v43 SET c = c + 1 WHERE a = 2
UPDATE v43 SET c = 1, a = 2
UPDATE v8 SET id = 1
UPDATE v1 JOIN u ON v1.id = u.id SET v1.a = u.c, u.d = NOW() WHERE v1.b IS NULL
DELETE FROM v1 WHERE a = 1 ORDER BY id LIMIT 1
DELETE FROM v43 WHERE a = 1
DELETE v39 FROM v39 JOIN u ON u.id = v39.id WHERE c > 1
DELETE x, u FROM v1 x LEFT JOIN u USING (id) WHERE u.c > 0
DELETE FROM v18
LOAD DATA INFILE 'f' INTO TABLE v39 (id, @x, b) SET a = @x + 1
SHOW CREATE VIEW v1
SHOW CREATE TABLE v2
SHOW COLUMNS FROM v3
CREATE VIEW v1 AS SELECT 1
DROP VIEW v41, v42
DROP VIEW IF EXISTS v42, nosuch
DROP VIEW t
DROP TABLE v1
# What can be changed by views.
CREATE VIEW m_plain AS SELECT id, a, b FROM t
CREATE VIEW m_renamed AS SELECT id AS i, a AS x, b AS y FROM t
CREATE VIEW m_wheref AS SELECT id, a, b FROM t WHERE a > 3
CREATE VIEW m_expr AS SELECT id, a + 1 AS a1, b FROM t
CREATE VIEW m_twice AS SELECT id, a, a AS aa, b FROM t
CREATE VIEW m_distinctv AS SELECT DISTINCT id, a, b FROM t
CREATE VIEW m_grouped AS SELECT a, COUNT(*) AS n FROM t GROUP BY a
CREATE VIEW m_aggregated AS SELECT MAX(id) AS id, MIN(a) AS a FROM t
CREATE VIEW m_havingv AS SELECT id, a FROM t HAVING a > 1
CREATE VIEW m_limited AS SELECT id, a, b FROM t LIMIT 5
CREATE VIEW m_orderedv AS SELECT id, a, b FROM t ORDER BY a
CREATE VIEW m_unionv AS SELECT id, a FROM t UNION SELECT id, tid FROM u
CREATE VIEW m_unionall AS SELECT id, a FROM t UNION ALL SELECT id, tid FROM u
CREATE VIEW m_subq AS SELECT id, a, (SELECT COUNT(*) FROM u) AS n FROM t
CREATE VIEW m_subqw AS SELECT id, a, b FROM t WHERE a IN (SELECT tid FROM u)
CREATE VIEW m_selfsub AS SELECT id, a, b FROM t WHERE a IN (SELECT a FROM t)
CREATE VIEW m_windowed AS SELECT id, a, ROW_NUMBER() OVER (ORDER BY a) AS r FROM t
CREATE VIEW m_constant AS SELECT 1 AS one, 2 AS two
CREATE VIEW m_fromconst AS SELECT id, 1 AS one FROM t
CREATE VIEW m_derivedv AS SELECT id, a FROM (SELECT id, a FROM t) d
CREATE VIEW m_withv AS WITH c AS (SELECT id, a FROM t) SELECT id, a FROM c
CREATE VIEW m_joinv AS SELECT t.id, t.a, u.tid AS x FROM t JOIN u ON t.id = u.tid
CREATE VIEW m_leftv AS SELECT t.id, t.a, u.tid AS x FROM t LEFT JOIN u ON t.id = u.tid
CREATE VIEW m_crossv AS SELECT t.id, u.tid AS x FROM t, u
CREATE VIEW m_selfv AS SELECT p.id, q.a FROM t p JOIN t q ON p.id = q.a
CREATE VIEW m_overv AS SELECT id, a FROM m_plain WHERE a < 9
CREATE VIEW m_overjoin AS SELECT id, x FROM m_joinv
CREATE VIEW m_overgroup AS SELECT a, n FROM m_grouped WHERE n > 1
CREATE VIEW m_starv AS SELECT * FROM t
CREATE ALGORITHM=MERGE VIEW m_alg_merge AS SELECT id, a, b FROM t
CREATE ALGORITHM=TEMPTABLE VIEW m_alg_temptable AS SELECT id, a, b FROM t
CREATE ALGORITHM=UNDEFINED VIEW m_alg_undefined AS SELECT id, a, b FROM t
CREATE VIEW m_chk_local AS SELECT id, a, b FROM m_wheref WHERE a < 100 WITH LOCAL CHECK OPTION
CREATE VIEW m_chk_cascaded AS SELECT id, a, b FROM m_wheref WHERE a < 100 WITH CASCADED CHECK OPTION
CREATE VIEW m_chk_grouped AS SELECT a, COUNT(*) AS n FROM t GROUP BY a WITH CHECK OPTION
CREATE ALGORITHM=MERGE VIEW m_alg_grouped AS SELECT a, COUNT(*) AS n FROM t GROUP BY a
UPDATE m_plain SET a = 1
DELETE FROM m_plain
INSERT INTO m_plain (id) VALUES (1)
INSERT INTO m_plain SELECT * FROM m_plain
UPDATE m_renamed SET x = 1
DELETE FROM m_renamed
INSERT INTO m_renamed (i) VALUES (1)
INSERT INTO m_renamed SELECT * FROM m_renamed
UPDATE m_wheref SET a = 1
DELETE FROM m_wheref
INSERT INTO m_wheref (id) VALUES (1)
INSERT INTO m_wheref SELECT * FROM m_wheref
UPDATE m_expr SET b = 1
DELETE FROM m_expr
INSERT INTO m_expr (id) VALUES (1)
INSERT INTO m_expr SELECT * FROM m_expr
UPDATE m_twice SET a = 1
DELETE FROM m_twice
INSERT INTO m_twice (id) VALUES (1)
INSERT INTO m_twice SELECT * FROM m_twice
UPDATE m_distinctv SET a = 1
DELETE FROM m_distinctv
INSERT INTO m_distinctv (id) VALUES (1)
INSERT INTO m_distinctv SELECT * FROM m_distinctv
UPDATE m_grouped SET a = 1
DELETE FROM m_grouped
INSERT INTO m_grouped (a) VALUES (1)
INSERT INTO m_grouped SELECT * FROM m_grouped
UPDATE m_aggregated SET a = 1
DELETE FROM m_aggregated
INSERT INTO m_aggregated (id) VALUES (1)
INSERT INTO m_aggregated SELECT * FROM m_aggregated
UPDATE m_havingv SET a = 1
DELETE FROM m_havingv
INSERT INTO m_havingv (id) VALUES (1)
INSERT INTO m_havingv SELECT * FROM m_havingv
UPDATE m_limited SET a = 1
DELETE FROM m_limited
INSERT INTO m_limited (id) VALUES (1)
INSERT INTO m_limited SELECT * FROM m_limited
UPDATE m_orderedv SET a = 1
DELETE FROM m_orderedv
INSERT INTO m_orderedv (id) VALUES (1)
INSERT INTO m_orderedv SELECT * FROM m_orderedv
UPDATE m_unionv SET a = 1
DELETE FROM m_unionv
INSERT INTO m_unionv (id) VALUES (1)
INSERT INTO m_unionv SELECT * FROM m_unionv
UPDATE m_unionall SET a = 1
DELETE FROM m_unionall
INSERT INTO m_unionall (id) VALUES (1)
INSERT INTO m_unionall SELECT * FROM m_unionall
UPDATE m_subq SET a = 1
DELETE FROM m_subq
INSERT INTO m_subq (id) VALUES (1)
INSERT INTO m_subq SELECT * FROM m_subq
UPDATE m_subqw SET a = 1
DELETE FROM m_subqw
INSERT INTO m_subqw (id) VALUES (1)
INSERT INTO m_subqw SELECT * FROM m_subqw
UPDATE m_selfsub SET a = 1
DELETE FROM m_selfsub
INSERT INTO m_selfsub (id) VALUES (1)
INSERT INTO m_selfsub SELECT * FROM m_selfsub
UPDATE m_windowed SET a = 1
DELETE FROM m_windowed
INSERT INTO m_windowed (id) VALUES (1)
INSERT INTO m_windowed SELECT * FROM m_windowed
UPDATE m_constant SET one = 1
DELETE FROM m_constant
INSERT INTO m_constant (one) VALUES (1)
INSERT INTO m_constant SELECT * FROM m_constant
UPDATE m_fromconst SET a = 1
DELETE FROM m_fromconst
INSERT INTO m_fromconst (id) VALUES (1)
INSERT INTO m_fromconst SELECT * FROM m_fromconst
UPDATE m_derivedv SET a = 1
DELETE FROM m_derivedv
INSERT INTO m_derivedv (id) VALUES (1)
INSERT INTO m_derivedv SELECT * FROM m_derivedv
UPDATE m_withv SET a = 1
DELETE FROM m_withv
INSERT INTO m_withv (id) VALUES (1)
INSERT INTO m_withv SELECT * FROM m_withv
UPDATE m_joinv SET x = 1
DELETE FROM m_joinv
INSERT INTO m_joinv (id) VALUES (1)
INSERT INTO m_joinv SELECT * FROM m_joinv
UPDATE m_leftv SET x = 1
DELETE FROM m_leftv
INSERT INTO m_leftv (id) VALUES (1)
INSERT INTO m_leftv SELECT * FROM m_leftv
UPDATE m_crossv SET x = 1
DELETE FROM m_crossv
INSERT INTO m_crossv (id) VALUES (1)
INSERT INTO m_crossv SELECT * FROM m_crossv
UPDATE m_selfv SET a = 1
DELETE FROM m_selfv
INSERT INTO m_selfv (id) VALUES (1)
INSERT INTO m_selfv SELECT * FROM m_selfv
UPDATE m_overv SET a = 1
DELETE FROM m_overv
INSERT INTO m_overv (id) VALUES (1)
INSERT INTO m_overv SELECT * FROM m_overv
UPDATE m_overjoin SET x = 1
DELETE FROM m_overjoin
INSERT INTO m_overjoin (id) VALUES (1)
INSERT INTO m_overjoin SELECT * FROM m_overjoin
UPDATE m_overgroup SET a = 1
DELETE FROM m_overgroup
INSERT INTO m_overgroup (a) VALUES (1)
INSERT INTO m_overgroup SELECT * FROM m_overgroup
UPDATE m_starv SET a = 1
DELETE FROM m_starv
INSERT INTO m_starv (id) VALUES (1)
INSERT INTO m_starv SELECT * FROM m_starv
UPDATE m_alg_merge SET a = 1
DELETE FROM m_alg_merge
INSERT INTO m_alg_merge (id) VALUES (1)
INSERT INTO m_alg_merge SELECT * FROM m_alg_merge
UPDATE m_alg_temptable SET a = 1
DELETE FROM m_alg_temptable
INSERT INTO m_alg_temptable (id) VALUES (1)
INSERT INTO m_alg_temptable SELECT * FROM m_alg_temptable
UPDATE m_alg_undefined SET a = 1
DELETE FROM m_alg_undefined
INSERT INTO m_alg_undefined (id) VALUES (1)
INSERT INTO m_alg_undefined SELECT * FROM m_alg_undefined
UPDATE m_chk_local SET a = 1
DELETE FROM m_chk_local
INSERT INTO m_chk_local (id) VALUES (1)
INSERT INTO m_chk_local SELECT * FROM m_chk_local
UPDATE m_chk_cascaded SET a = 1
DELETE FROM m_chk_cascaded
INSERT INTO m_chk_cascaded (id) VALUES (1)
INSERT INTO m_chk_cascaded SELECT * FROM m_chk_cascaded
UPDATE m_expr SET a1 = 2
UPDATE m_twice SET aa = 2
INSERT INTO m_twice (id, a, aa) VALUES (1, 2, 3)
INSERT INTO m_joinv (id, a) VALUES (1, 2)
INSERT INTO m_joinv (x) VALUES (1)
INSERT INTO m_joinv (id, x) VALUES (1, 2)
UPDATE m_joinv SET a = 1, x = 2
UPDATE m_subq SET n = 1
UPDATE m_fromconst SET one = 2
REPLACE INTO m_plain (id) VALUES (1)
INSERT INTO m_wheref (id, a) VALUES (1, 2) ON DUPLICATE KEY UPDATE a = a + 1
UPDATE m_plain v JOIN u ON v.id = u.tid SET v.a = u.tid
DELETE v FROM m_plain v JOIN u ON v.id = u.tid
DELETE m_joinv FROM m_joinv
UPDATE m_wheref SET a = 1 ORDER BY a LIMIT 1
DESCRIBE m_renamed
SHOW COLUMNS FROM m_joinv
SHOW CREATE VIEW m_alg_merge
DROP VIEW m_plain, m_nosuch
CREATE VIEW m_names AS SELECT a + 1, 'x', ' ', CONCAT(b, 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz'), a AS `y `, COUNT(*) OVER () FROM t
SELECT * FROM m_names
