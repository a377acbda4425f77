-- China's administrative divisions, five levels. Run it in this folder:
--   sqlots sql < divisions.sql
DROP DATABASE IF EXISTS example_divisions;
CREATE DATABASE example_divisions;
USE example_divisions;

CREATE TABLE provinces (code VARCHAR(12) NOT NULL, name VARCHAR(100) NOT NULL, PRIMARY KEY (code));
CREATE TABLE cities (code VARCHAR(12) NOT NULL, name VARCHAR(100) NOT NULL, province VARCHAR(12) NOT NULL,
  PRIMARY KEY (code), KEY by_province (province));
CREATE TABLE areas (code VARCHAR(12) NOT NULL, name VARCHAR(100) NOT NULL, city VARCHAR(12) NOT NULL, province VARCHAR(12) NOT NULL,
  PRIMARY KEY (code), KEY by_city (city));
CREATE TABLE streets (code VARCHAR(12) NOT NULL, name VARCHAR(100) NOT NULL, area VARCHAR(12) NOT NULL, province VARCHAR(12) NOT NULL, city VARCHAR(12) NOT NULL,
  PRIMARY KEY (code), KEY by_area (area), KEY by_name (name));
CREATE TABLE villages (code VARCHAR(12) NOT NULL, name VARCHAR(100) NOT NULL, street VARCHAR(12) NOT NULL, province VARCHAR(12) NOT NULL, city VARCHAR(12) NOT NULL, area VARCHAR(12) NOT NULL,
  PRIMARY KEY (code), KEY by_street (street));

LOAD DATA LOCAL INFILE 'provinces.csv' INTO TABLE provinces CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' IGNORE 1 LINES;
LOAD DATA LOCAL INFILE 'cities.csv' INTO TABLE cities CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' IGNORE 1 LINES;
LOAD DATA LOCAL INFILE 'areas.csv' INTO TABLE areas CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' IGNORE 1 LINES;
LOAD DATA LOCAL INFILE 'streets.csv' INTO TABLE streets CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' IGNORE 1 LINES;
LOAD DATA LOCAL INFILE 'villages.csv' INTO TABLE villages CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' IGNORE 1 LINES;

SELECT (SELECT COUNT(*) FROM provinces) AS provinces, (SELECT COUNT(*) FROM cities) AS cities, (SELECT COUNT(*) FROM areas) AS areas,
  (SELECT COUNT(*) FROM streets) AS streets, (SELECT COUNT(*) FROM villages) AS villages;

-- A code holds the codes of the levels above it: a prefix is a range of the primary key.
SELECT code, name FROM streets WHERE code LIKE '330106%' ORDER BY code;

-- By a secondary index.
SELECT code, name FROM cities WHERE province = '33' ORDER BY code;
SELECT code, area FROM streets WHERE name = '西湖街道';

-- The way from a village up to its province.
SELECT p.name AS province, c.name AS city, a.name AS area, s.name AS street, v.name AS village
FROM villages v JOIN streets s ON s.code = v.street JOIN areas a ON a.code = v.area JOIN cities c ON c.code = v.city JOIN provinces p ON p.code = v.province
WHERE v.code = '330106002052';

-- How many divisions lie below each area of Hangzhou? Areas without villages in this extract count none.
SELECT a.name, COUNT(DISTINCT s.code) AS streets, COUNT(v.code) AS villages
FROM areas a JOIN streets s ON s.area = a.code LEFT JOIN villages v ON v.street = s.code
WHERE a.city = '3301' GROUP BY a.code, a.name ORDER BY villages DESC, streets DESC, a.code;

-- Provinces with the most cities.
SELECT p.name, COUNT(*) AS n FROM provinces p JOIN cities c ON c.province = p.code GROUP BY p.code, p.name ORDER BY n DESC, p.code LIMIT 5;

-- Names that come up more than once.
SELECT name, COUNT(*) AS n, MIN(code) AS first FROM cities GROUP BY name HAVING n > 1 ORDER BY n DESC, name, first;

-- Villages by what they are called.
SELECT CASE WHEN name LIKE '%社区%' THEN 'community' WHEN name LIKE '%村%' THEN 'village' ELSE 'other' END AS kind, COUNT(*) AS n, MAX(CHAR_LENGTH(name)) AS longest
FROM villages GROUP BY kind ORDER BY n DESC, kind;
