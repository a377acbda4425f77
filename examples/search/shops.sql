-- Shops near a point, by an index of places. Run it in this folder:
--   sqlots sql < shops.sql
DROP DATABASE IF EXISTS example_search_shops;
CREATE DATABASE example_search_shops;
USE example_search_shops;

-- pos is 'latitude,longitude', as the source has it; the index holds the POINT
-- that is computed from it.
CREATE TABLE geo_positon (
  id       CHAR(32) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
  type     VARCHAR(20) NOT NULL,
  name     VARCHAR(100) NOT NULL,
  city     VARCHAR(20) NOT NULL,
  pos      VARCHAR(40) NOT NULL,
  score    DECIMAL(3,1) NOT NULL,
  per_cost DECIMAL(8,2) NOT NULL,
  place    POINT AS (POINT(CAST(SUBSTRING_INDEX(pos, ',', -1) AS DOUBLE), CAST(SUBSTRING_INDEX(pos, ',', 1) AS DOUBLE))) STORED NOT NULL
);
INSERT INTO geo_positon (id, type, name, city, pos, score, per_cost)
SELECT MD5(name), type, name, city, pos, score, per_cost FROM (
  SELECT '奶茶' AS type, '一点点' AS name, '汾阳' AS city, '36.76613,111.41461' AS pos, 4.1 AS score, 15 AS per_cost
  UNION ALL SELECT '奶茶', '沈家奶茶', '汾阳', '36.77113,111.41461', 4.8, 20
  UNION ALL SELECT '奶茶', '大杯茶', '汾阳', '36.77503,111.41461', 4.5, 120
  UNION ALL SELECT '奶茶', '远茶', '汾阳', '36.77513,111.41461', 5.0, 18
  UNION ALL SELECT '面馆', '沈家面馆', '杭州', '30.25000,120.16000', 4.2, 30
  UNION ALL SELECT '饭店', '沈家门海鲜', '杭州', '30.26000,120.17000', 4.7, 150
  UNION ALL SELECT '饭店', '楼外楼', '杭州', '30.25300,120.14000', 4.6, 200
) s;
INSERT INTO geo_positon (id, type, name, city, pos, score, per_cost)
WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 999)
SELECT MD5(CONCAT('面馆', i)), '面馆', CONCAT('面馆', i), '汾阳', CONCAT(36.5 + i DIV 40 / 50, ',', 111.0 + i % 40 / 50), i % 50 / 10, 10 + i % 30 FROM n;
-- Scores are computed with the figures of the index's files. Made after the rows,
-- they have all of them.
CREATE SEARCH INDEX geo_index ON geo_positon (type, city, score, per_cost, name, name TEXT, place GEO_POINT);
ANALYZE TABLE geo_positon;

-- Milk tea within a kilometre. The fourth shop is 75 centimetres too far away.
SELECT name, ROUND(ST_Distance_Sphere(place, POINT(111.41461, 36.76613)), 2) AS d
FROM geo_positon WHERE type = '奶茶' AND ST_Distance_Sphere(place, POINT(111.41461, 36.76613)) <= 1000 ORDER BY d;
EXPLAIN FORMAT=TREE SELECT name FROM geo_positon FORCE INDEX (geo_index) WHERE type = '奶茶' AND ST_Distance_Sphere(place, POINT(111.41461, 36.76613)) <= 1000;

-- At most 100 a head, the best score first.
SELECT name, score, ROUND(ST_Distance_Sphere(place, POINT(111.41461, 36.76613))) AS d
FROM geo_positon WHERE type = '奶茶' AND per_cost <= 100 AND ST_Distance_Sphere(place, POINT(111.41461, 36.76613)) <= 1000 ORDER BY score DESC, d LIMIT 10;

-- In Hangzhou, names that begin with 沈家, the best first; anything of theirs anywhere.
SELECT name, score FROM geo_positon WHERE city = '杭州' AND name LIKE '沈家%' ORDER BY score DESC;
SELECT name, city FROM geo_positon WHERE TEXT_MATCH_PHRASE(name, '沈家') ORDER BY name;

-- What there is in a box, and the nearest three.
SELECT type, COUNT(*) AS n, AVG(score) AS score FROM geo_positon
WHERE MBRContains(ST_GeomFromText('POLYGON((111.3 36.7, 111.5 36.7, 111.5 36.9, 111.3 36.9, 111.3 36.7))'), place) GROUP BY type ORDER BY n DESC;
SELECT name FROM geo_positon WHERE type <> '奶茶' AND city = '汾阳' ORDER BY ST_Distance_Sphere(place, POINT(111.41461, 36.76613)), name LIMIT 3;

-- The shop of each city whose name fits best, of equal ones the one with the better
-- score: the index gives the scores of texts too, and no row is read.
SELECT city, name, score FROM (SELECT city, name, score, ROW_NUMBER() OVER (PARTITION BY city ORDER BY SCORE() DESC, score DESC, name) AS n
  FROM geo_positon WHERE TEXT_MATCH(name, '沈家奶茶')) x WHERE n = 1 ORDER BY city;
