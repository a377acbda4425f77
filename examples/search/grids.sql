-- Descriptions of grids, by anything that they have. Run it in this folder:
--   sqlots sql < grids.sql
DROP DATABASE IF EXISTS example_search_grids;
CREATE DATABASE example_search_grids;
USE example_search_grids;

-- ../weather has the grids themselves.
CREATE TABLE grid_meta (
  _id            VARCHAR(64) COLLATE utf8mb4_bin PRIMARY KEY,
  _data_type     VARCHAR(10) NOT NULL,
  _variable_list JSON NOT NULL,
  _t_size INT NOT NULL, _z_size INT NOT NULL, _x_size INT NOT NULL, _y_size INT NOT NULL,
  status         VARCHAR(10) NOT NULL,
  source         VARCHAR(20),
  accuracy       VARCHAR(10),
  create_time    BIGINT NOT NULL,
  tag1           VARCHAR(20),
  tag2           VARCHAR(20),
  SEARCH INDEX meta_index (status, source, accuracy, create_time, tag1, tag2, _data_type, _t_size, _z_size, _x_size, _y_size, _id, (_t_size * _z_size * _x_size * _y_size))
);
INSERT INTO grid_meta
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 400)
SELECT CONCAT('forecast_', LPAD(i, 3, '0')), IF(i % 5, 'FLOAT', 'SHORT'), JSON_ARRAY('wind', 'temperature'), 10 + i % 4, i % 3 + 1, 2880, 570,
  IF(i % 7, 'DONE', 'INIT'), ELT(i % 4 + 1, 'ECMWF', 'NMC', 'GFS', NULL), IF(i % 2, '1km', '9km'), 1546272000000 + i * 3600000, IF(i % 9, NULL, CONCAT('tag', i % 5)), CONCAT('run ', i DIV 100) FROM n;
ANALYZE TABLE grid_meta;

-- Whole ones of the last day from two sources, the newest first.
SELECT _id, source, create_time FROM grid_meta
WHERE status = 'DONE' AND create_time > 1547712000000 - 86400000 AND source IN ('ECMWF', 'NMC') AND accuracy = '1km' ORDER BY create_time DESC LIMIT 10;
EXPLAIN FORMAT=TREE SELECT source, create_time FROM grid_meta FORCE INDEX (meta_index)
WHERE status = 'DONE' AND create_time > 1547625600000 AND source IN ('ECMWF', 'NMC') AND accuracy = '1km';

-- Any other combination.
SELECT COUNT(*) AS n FROM grid_meta WHERE source IS NULL AND tag1 IS NOT NULL;
SELECT _id, tag1, tag2 FROM grid_meta WHERE (tag1 = 'tag3' OR tag2 LIKE '%4') AND NOT (source = 'GFS' OR accuracy = '9km') ORDER BY _id LIMIT 5;
SELECT source, COUNT(*) AS n, MIN(create_time) AS first, SUM(_t_size * _z_size) AS planes FROM grid_meta WHERE status <> 'INIT' GROUP BY source ORDER BY n DESC, source;
SELECT _id, _t_size * _z_size * _x_size * _y_size AS points FROM grid_meta WHERE _t_size * _z_size * _x_size * _y_size > 60000000 AND _data_type = 'SHORT' ORDER BY create_time LIMIT 3;
SELECT tag1, COUNT(*) AS n FROM grid_meta WHERE create_time % 7200000 = 0 AND tag1 REGEXP '[0-3]$' GROUP BY tag1 ORDER BY tag1;
