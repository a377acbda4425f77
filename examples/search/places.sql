-- Search over places of the world (GeoNames). Run it in this folder:
--   sqlots sql < places.sql
DROP DATABASE IF EXISTS example_search_places;
CREATE DATABASE example_search_places;
USE example_search_places;

-- One index for names, numbers and places, in any combination. The name is there
-- three times: as a value, as words, and in parts.
CREATE TABLE places (
  geoname_id   BIGINT PRIMARY KEY,
  name         VARCHAR(200) NOT NULL,
  ascii_name   VARCHAR(200),
  country      CHAR(2) NOT NULL,
  admin_code   VARCHAR(20),
  feature_code VARCHAR(10),
  population   BIGINT NOT NULL,
  longitude    DECIMAL(10,5) NOT NULL,
  latitude     DECIMAL(10,5) NOT NULL,
  pos          POINT AS (POINT(longitude, latitude)) STORED NOT NULL,
  SEARCH INDEX s (country, feature_code, population, latitude, name, name TEXT, pos GEO_POINT),
  SEARCH INDEX part (name TEXT ANALYZER 'fuzzy')
);
LOAD DATA LOCAL INFILE '../cities/cities.csv' INTO TABLE places CHARACTER SET utf8mb4
  FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY '\n' IGNORE 1 LINES
  (geoname_id, name, ascii_name, country, admin_code, feature_code, population, longitude, latitude);
ANALYZE TABLE places;

-- Words of names, in any case and with any accents.
SELECT name, country FROM places WHERE MATCH (name) AGAINST ('sao santo' IN BOOLEAN MODE) ORDER BY name, geoname_id;
SELECT name, country FROM places WHERE MATCH (name) AGAINST ('+san -jose' IN BOOLEAN MODE) ORDER BY population DESC, geoname_id LIMIT 5;
SELECT name, HIGHLIGHT(name, '[', ']') AS shown FROM places WHERE TEXT_MATCH_PHRASE(name, 'la massana');

-- The beginning of a word, part of a word, and a word with a slip of the pen.
SELECT name, country FROM places WHERE MATCH (name) AGAINST ('reyk*' IN BOOLEAN MODE) ORDER BY name, geoname_id;
SELECT name, country FROM places WHERE name LIKE '%vík%' AND country = 'IS' ORDER BY name, geoname_id LIMIT 5;
SELECT name, country FROM places WHERE TEXT_MATCH_FUZZY(name, 'reykjavk') ORDER BY name, geoname_id;

-- Any combination of conditions, sorted by any column.
SELECT name, population FROM places WHERE country IN ('BR', 'IN') AND population > 3000000 ORDER BY population DESC LIMIT 5;
SELECT name, country, population FROM places
WHERE (country = 'CN' OR feature_code = 'PPLC' AND population BETWEEN 5000000 AND 9000000) AND NOT (latitude < 25 OR name LIKE '%g') ORDER BY population DESC LIMIT 6;
EXPLAIN FORMAT=TREE SELECT country, population FROM places FORCE INDEX (s) WHERE country <> 'CN' AND population > 10000000 AND name REGEXP '^[a-m]';
SELECT name, country, population FROM places WHERE country <> 'CN' AND population > 10000000 AND name REGEXP '^[a-m]' ORDER BY name, geoname_id;

-- Around a place: Vaduz.
SELECT name, country, ROUND(ST_Distance_Sphere(pos, POINT(9.52154, 47.14151)) / 1000, 1) AS km
FROM places WHERE ST_Distance_Sphere(pos, POINT(9.52154, 47.14151)) <= 10000 ORDER BY km, geoname_id;
SELECT COUNT(*) AS n, SUM(population) AS people FROM places
WHERE MBRContains(ST_GeomFromText('POLYGON((60 5, 100 5, 100 35, 60 35, 60 5))'), pos) AND population > 2000000;

-- How many are there, and the biggest of each country.
SELECT country, COUNT(*) AS n, SUM(population) AS people, MAX(population) AS biggest
FROM places WHERE population > 5000000 GROUP BY country HAVING n > 1 ORDER BY people DESC, country;
SELECT country, name, population FROM (SELECT country, name, population, ROW_NUMBER() OVER (PARTITION BY country ORDER BY population DESC) AS n
  FROM places WHERE feature_code <> 'PPLC' AND population > 8000000) x WHERE n = 1 ORDER BY population DESC LIMIT 5;

-- Pages by offset and by key.
SELECT name, population FROM places WHERE population > 0 ORDER BY population DESC, geoname_id LIMIT 3 OFFSET 100;
SELECT name, population FROM places WHERE population < 2500000 AND country = 'CN' ORDER BY population DESC, geoname_id LIMIT 3;
