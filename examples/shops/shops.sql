-- Shops near a point. Run it in this folder:
--   sqlots sql < shops.sql
DROP DATABASE IF EXISTS example_shops;
CREATE DATABASE example_shops;
USE example_shops;

-- pos is 'latitude,longitude', as the source has it; the two numbers are
-- computed from it, and an index of type and latitude narrows the search.
CREATE TABLE geo_positon (
  id       CHAR(32) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
  type     VARCHAR(20) NOT NULL,
  name     VARCHAR(100) NOT NULL,
  city     VARCHAR(20) NOT NULL,
  pos      VARCHAR(40) NOT NULL,
  score    DECIMAL(3,1) NOT NULL,
  per_cost DECIMAL(8,2) NOT NULL,
  lat      DOUBLE AS (CAST(SUBSTRING_INDEX(pos, ',', 1) AS DOUBLE)) STORED,
  lon      DOUBLE AS (CAST(SUBSTRING_INDEX(pos, ',', -1) AS DOUBLE)) STORED,
  KEY by_type (type, lat),
  KEY by_name (city, name)
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
-- Others, that are not asked for: a thousand noodle shops on a lattice.
INSERT INTO geo_positon (id, type, name, city, pos, score, per_cost)
WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 999)
SELECT MD5(CONCAT('面馆', i)), '面馆', CONCAT('面馆', i), '汾阳', CONCAT(36.5 + i DIV 40 / 50, ',', 111.0 + i % 40 / 50), i % 50 / 10, 10 + i % 30 FROM n;
ANALYZE TABLE geo_positon;

-- Milk tea within a kilometre. The fourth shop is 75 centimetres too far away.
SELECT name, ROUND(ST_Distance_Sphere(POINT(lon, lat), POINT(111.41461, 36.76613)), 2) AS d
FROM geo_positon WHERE type = '奶茶' HAVING d <= 1000 ORDER BY d;

-- The same with a condition that the index can use: a degree of latitude is
-- 111195 m. This is what a spatial index would do by itself.
SELECT name, ROUND(ST_Distance_Sphere(POINT(lon, lat), POINT(111.41461, 36.76613)), 2) AS d
FROM geo_positon
WHERE type = '奶茶' AND lat BETWEEN 36.76613 - 1000 / 111195 AND 36.76613 + 1000 / 111195
HAVING d <= 1000 ORDER BY d;
EXPLAIN FORMAT=TREE SELECT name FROM geo_positon
WHERE type = '奶茶' AND lat BETWEEN 36.76613 - 1000 / 111195 AND 36.76613 + 1000 / 111195;

-- At most 100 a head, the best score first.
SELECT name, score, ROUND(ST_Distance_Sphere(POINT(lon, lat), POINT(111.41461, 36.76613))) AS d
FROM geo_positon WHERE type = '奶茶' AND per_cost <= 100 HAVING d <= 1000 ORDER BY score DESC, d LIMIT 10;

-- In Hangzhou, names that begin with 沈家, the best first.
SELECT name, score FROM geo_positon WHERE city = '杭州' AND name LIKE '沈家%' ORDER BY score DESC;
EXPLAIN FORMAT=TREE SELECT name, score FROM geo_positon WHERE city = '杭州' AND name LIKE '沈家%' ORDER BY score DESC;
