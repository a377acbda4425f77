-- Search over Chinese place names. Run it in this folder:
--   sqlots sql < divisions.sql
DROP DATABASE IF EXISTS example_search_divisions;
CREATE DATABASE example_search_divisions;
USE example_search_divisions;

-- Names by their characters, by parts of them, and, of areas, by the words that a
-- dictionary finds in them.
CREATE TABLE villages (
  code     VARCHAR(12) COLLATE utf8mb4_bin PRIMARY KEY,
  name     VARCHAR(100) NOT NULL,
  street   VARCHAR(12) COLLATE utf8mb4_bin NOT NULL,
  province VARCHAR(12) NOT NULL,
  city     VARCHAR(12) NOT NULL,
  area     VARCHAR(12) NOT NULL,
  SEARCH INDEX chars (street, area, code, name, name TEXT),
  SEARCH INDEX parts (name TEXT ANALYZER 'fuzzy')
);
CREATE TABLE areas (
  code VARCHAR(12) COLLATE utf8mb4_bin PRIMARY KEY, name VARCHAR(100) NOT NULL, city VARCHAR(12) NOT NULL, province VARCHAR(12) NOT NULL,
  SEARCH INDEX s (province, city, name, name TEXT ANALYZER 'max_word')
);
LOAD DATA LOCAL INFILE '../divisions/villages.csv' INTO TABLE villages CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' IGNORE 1 LINES;
LOAD DATA LOCAL INFILE '../divisions/areas.csv' INTO TABLE areas CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' IGNORE 1 LINES;
ANALYZE TABLE villages, areas;

-- Names with both characters anywhere, and with the two next to one another.
SELECT name FROM villages WHERE TEXT_MATCH(name, '西湖', 'and') ORDER BY code;
SELECT name, HIGHLIGHT(name, '【', '】') AS shown FROM villages WHERE TEXT_MATCH_PHRASE(name, '龙井') ORDER BY code;
SELECT name FROM villages WHERE MATCH (name) AGAINST ('+"社区" +"花"' IN BOOLEAN MODE) ORDER BY code;

-- The beginning of a code is a subtree, the beginning of a name a prefix.
SELECT street, COUNT(*) AS villages FROM villages WHERE code LIKE '33010611%' GROUP BY street ORDER BY street;
SELECT name FROM villages WHERE name LIKE '文%' ORDER BY code;

-- The end and the middle of names; parts by the index of parts.
SELECT COUNT(*) AS n FROM villages WHERE name LIKE '%村民委员会' OR name LIKE '%村委会' OR name LIKE '%村';
SELECT name FROM villages WHERE name LIKE '%桥%社区' ORDER BY code LIMIT 5;
SELECT name FROM villages WHERE name NOT LIKE '%社区%' AND name REGEXP '[龙山]' ORDER BY code LIMIT 5;
EXPLAIN FORMAT=TREE SELECT code FROM villages FORCE INDEX (chars) WHERE NOT (name LIKE '%社区%' OR street = '330106109');

-- Areas by words: 西湖 is one in 西湖区, 山 is none in 房山区.
SELECT name FROM areas WHERE MATCH (name) AGAINST ('西湖') ORDER BY code;
SELECT name FROM areas WHERE MATCH (name) AGAINST ('山') ORDER BY code;
SELECT province, COUNT(*) AS n, SUM(name LIKE '%区') AS districts FROM areas WHERE name LIKE '%区' OR name LIKE '%县' GROUP BY province ORDER BY province;
