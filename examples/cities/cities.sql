-- Places of the world: an extract of GeoNames. Run it in this folder:
--   sqlots sql < cities.sql
DROP DATABASE IF EXISTS example_cities;
CREATE DATABASE example_cities;
USE example_cities;

CREATE TABLE cities (
  geoname_id   BIGINT NOT NULL,
  name         VARCHAR(200) NOT NULL,
  ascii_name   VARCHAR(200),
  country      CHAR(2) NOT NULL,
  admin_code   VARCHAR(20),
  feature_code VARCHAR(10),
  population   BIGINT NOT NULL,
  longitude    DECIMAL(10,5) NOT NULL,
  latitude     DECIMAL(10,5) NOT NULL,
  PRIMARY KEY (geoname_id),
  KEY by_country (country, population DESC) /*sqlots! INCLUDE (name) */,
  KEY by_name (name)
);

LOAD DATA LOCAL INFILE 'cities.csv' INTO TABLE cities CHARACTER SET utf8mb4
  FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY '\n' IGNORE 1 LINES;

SELECT COUNT(*) AS places, COUNT(DISTINCT country) AS countries, SUM(population) AS people FROM cities;

-- One place by its key, several by a list of keys.
SELECT name, country, population FROM cities WHERE geoname_id = 3413829;
SELECT geoname_id, name FROM cities WHERE geoname_id IN (3413829, 1816670, 5128581, 1) ORDER BY geoname_id;

-- The biggest places of a country: the index by_country gives the order and has all columns.
SELECT name, population FROM cities WHERE country = 'IN' ORDER BY population DESC LIMIT 5;

-- Names by their beginning. The collation ignores case and accents.
SELECT name, country FROM cities WHERE name LIKE 'são%' ORDER BY name, geoname_id;
SELECT name, country FROM cities WHERE name = 'REYKJAVIK';

-- By country: number, people, biggest.
SELECT country, COUNT(*) AS places, SUM(population) AS people, MAX(population) AS biggest
FROM cities GROUP BY country HAVING people > 30000000 ORDER BY people DESC, country;

-- What lies between two parallels and two meridians?
SELECT name, latitude, longitude FROM cities
WHERE latitude BETWEEN 47 AND 48 AND longitude BETWEEN 9.4 AND 9.6 ORDER BY latitude DESC;

-- Countries beside one another: the average of a country and the places above twice its average.
SELECT c.country, c.name, c.population, ROUND(a.average) AS average
FROM cities c JOIN (SELECT country, AVG(population) AS average FROM cities GROUP BY country) a ON a.country = c.country
WHERE c.population > 2 * a.average AND c.country IN ('IS', 'LI', 'JP', 'DE')
ORDER BY c.country, c.population DESC;
