-- Pictures and films by what was seen in them: tags with scores, each an object of
-- its own in the index. Run it in this folder:
--   sqlots sql < media.sql
DROP DATABASE IF EXISTS example_search_media;
CREATE DATABASE example_search_media;
USE example_search_media;

CREATE TABLE media (
  id        CHAR(32) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
  user      VARCHAR(20) NOT NULL,
  type      VARCHAR(10) NOT NULL,
  createdAt BIGINT NOT NULL,
  size      INT NOT NULL,
  tags      JSON NOT NULL,
  SEARCH INDEX media_index (user, type, createdAt, size, tags NESTED (tag KEYWORD, tag TEXT, score DOUBLE))
);
INSERT INTO media
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
SELECT MD5(i), ELT(i % 3 + 1, 'A', 'B', 'C'), IF(i % 4, 'image', 'video'), 1500000000000 + i * 60000000, 1000 + i * 7919 % 100000,
  JSON_ARRAY(JSON_OBJECT('tag', ELT(i % 5 + 1, '开心', '表格存储', '星空', '猫', '海'), 'score', i * 37 % 100 / 100),
    JSON_OBJECT('tag', ELT(i % 7 + 1, '开心', 'star X', '表格存储', '山', '雪', '狗', '花'), 'score', i * 61 % 100 / 100))
FROM n;
ANALYZE TABLE media;

-- Images of 2018 with a tag.
SELECT COUNT(*) AS n FROM media WHERE NESTED_QUERY(`tags.tag` = '表格存储') AND createdAt >= 1514793600000 AND createdAt < 1543651200000 AND type = 'image';

-- One tag has to have the name and the score: other tags do not count.
SELECT COUNT(*) AS n FROM media WHERE NESTED_QUERY(`tags.tag` = '开心' AND `tags.score` > 0.9);
SELECT COUNT(*) AS n FROM media WHERE `tags.tag` = '开心' AND `tags.score` > 0.9;
SELECT type, COUNT(*) AS n, MAX(size) AS largest FROM media WHERE NESTED_QUERY(`tags.tag` = '猫') AND NOT NESTED_QUERY(`tags.tag` IN ('狗', '山')) GROUP BY type ORDER BY type;

-- Words of a tag, and how sure it is.
SELECT type, COUNT(*) AS n FROM media WHERE NESTED_QUERY(TEXT_MATCH(`tags.tag`, 'STAR 星', 'or') AND `tags.score` >= 0.8) GROUP BY type ORDER BY type;
EXPLAIN FORMAT=TREE SELECT COUNT(*) AS n FROM media FORCE INDEX (media_index) WHERE NESTED_QUERY(TEXT_MATCH_PHRASE(`tags.tag`, '存储') AND `tags.score` < 0.1);

-- The happiest images of a user in one year, and the films with a star, by how sure
-- the tag is.
SELECT id, (SELECT AVG(t.score) FROM
    JSON_TABLE(tags, '$[*]' COLUMNS (tag VARCHAR(20) PATH '$.tag', score DOUBLE PATH '$.score')) t WHERE t.tag = '开心') AS score
FROM media WHERE user = 'A' AND type = 'image' AND createdAt BETWEEN 1514764800000 AND 1546300799999 AND NESTED_QUERY(`tags.tag` = '开心' AND `tags.score` > 0.5)
ORDER BY score DESC, id LIMIT 5;
SELECT id, (SELECT MAX(t.score) FROM
    JSON_TABLE(tags, '$[*]' COLUMNS (tag VARCHAR(20) PATH '$.tag', score DOUBLE PATH '$.score')) t WHERE t.tag = 'star X') AS score
FROM media WHERE user = 'B' AND type = 'video' AND NESTED_QUERY(`tags.tag` = 'star X')
ORDER BY score DESC, id LIMIT 5;
