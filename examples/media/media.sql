-- Pictures and films with what was recognised in them. Run it in this folder:
--   sqlots sql < media.sql
DROP DATABASE IF EXISTS example_media;
CREATE DATABASE example_media;
USE example_media;

-- tags is an array of objects. The index has an entry for each tag of a file.
CREATE TABLE media (
  id        CHAR(32) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
  user      VARCHAR(20) NOT NULL,
  type      VARCHAR(10) NOT NULL,
  createdAt BIGINT NOT NULL,
  tags      JSON NOT NULL,
  KEY by_tag ((CAST(tags->'$[*].tag' AS CHAR(64) ARRAY)))
) /*sqlots! SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}' */;

-- 1514793600000 and 1543651200000 are 8 o'clock UTC of the first of January
-- and of December 2018. Size and place are attributes of some files.
INSERT INTO media (id, user, type, createdAt, tags, size) VALUES
  (MD5('1'), 'A', 'image', 1514793600000, '[{"tag": "表格存储", "score": 0.9}, {"tag": "开心", "score": 0.7}]', 120000),
  (MD5('2'), 'A', 'image', 1530000000000, '[{"tag": "开心", "score": 0.95}]', 80000),
  (MD5('3'), 'A', 'image', 1530000001000, '[{"tag": "表格存储", "score": 0.99}, {"tag": "会议", "score": 0.5}]', NULL),
  (MD5('4'), 'B', 'video', 1530000002000, '[{"tag": "表格存储", "score": 0.8}]', 9000000),
  (MD5('5'), 'B', 'video', 1530000003000, '[{"tag": "明星X", "score": 0.6}]', 7000000),
  (MD5('6'), 'B', 'video', 1530000004000, '[{"tag": "明星X", "score": 0.85}, {"tag": "开心", "score": 0.3}]', 5000000),
  (MD5('7'), 'A', 'image', 1543651200000, '[{"tag": "表格存储", "score": 1.0}]', 1);

-- Pictures of 2018 with a tag, the surest first. The last file is of the end
-- of the span, which is not part of it.
SELECT m.createdAt, t.score
FROM media m JOIN JSON_TABLE(m.tags, '$[*]' COLUMNS (tag VARCHAR(64) PATH '$.tag', score DOUBLE PATH '$.score')) t
WHERE t.tag = '表格存储' AND createdAt >= 1514793600000 AND createdAt < 1543651200000 AND type = 'image'
ORDER BY t.score DESC;

-- The same by the index: MEMBER OF finds the files, JSON_TABLE the score.
SELECT m.createdAt, t.score
FROM media m JOIN JSON_TABLE(m.tags, '$[*]' COLUMNS (tag VARCHAR(64) PATH '$.tag', score DOUBLE PATH '$.score')) t
WHERE '表格存储' MEMBER OF (m.tags->'$[*].tag') AND t.tag = '表格存储'
  AND createdAt >= 1514793600000 AND createdAt < 1543651200000 AND type = 'image'
ORDER BY t.score DESC;
EXPLAIN FORMAT=TREE SELECT id FROM media FORCE INDEX (by_tag) WHERE '表格存储' MEMBER OF (tags->'$[*].tag');

-- A search index finds files by any combination of conditions, with tag and score
-- of one element.
CREATE SEARCH INDEX s ON media ((CAST(tags->'$[*].tag' AS CHAR(64) ARRAY)), (CAST(tags->'$[*].score' AS DOUBLE ARRAY)), user, type, createdAt);
SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci;
SELECT createdAt FROM media FORCE INDEX (s)
WHERE EXISTS (SELECT 1 FROM JSON_TABLE(tags, '$[*]' COLUMNS (tag VARCHAR(64) PATH '$.tag', score DOUBLE PATH '$.score')) t WHERE t.tag = '开心' AND t.score > 0.5)
  AND createdAt >= 1514793600000 AND createdAt < 1543651200000 AND type = 'image'
ORDER BY createdAt;

-- User A: one year, happy pictures, by the score of that tag.
SELECT m.createdAt, t.score
FROM media m JOIN JSON_TABLE(m.tags, '$[*]' COLUMNS (tag VARCHAR(64) PATH '$.tag', score DOUBLE PATH '$.score')) t
WHERE user = 'A' AND type = 'image' AND t.tag = '开心'
  AND createdAt >= 1514764800000 AND createdAt < 1546300800000
ORDER BY t.score DESC;

-- User B: films with a star, by likeness.
SELECT m.createdAt, t.score, m.size
FROM media m JOIN JSON_TABLE(m.tags, '$[*]' COLUMNS (tag VARCHAR(64) PATH '$.tag', score DOUBLE PATH '$.score')) t
WHERE user = 'B' AND type = 'video' AND t.tag = '明星X'
ORDER BY t.score DESC;

-- What is tagged how often, and how surely?
SELECT t.tag, COUNT(*) AS files, ROUND(AVG(t.score), 3) AS average
FROM media m JOIN JSON_TABLE(m.tags, '$[*]' COLUMNS (tag VARCHAR(64) PATH '$.tag', score DOUBLE PATH '$.score')) t
GROUP BY t.tag ORDER BY files DESC, average DESC;

-- Bytes by user: an attribute in an aggregate.
SELECT user, COUNT(size) AS known, SUM(size) AS bytes FROM media GROUP BY user ORDER BY user;
