-- Grids of a weather model: planes, and points through time. Run it in this folder:
--   sqlots sql < weather.sql
DROP DATABASE IF EXISTS example_weather;
CREATE DATABASE example_weather;
USE example_weather;

-- What there is. Each data set has attributes of its own.
CREATE TABLE grid_meta (
  _id            VARCHAR(64) COLLATE utf8mb4_bin PRIMARY KEY,
  _data_type     VARCHAR(10) NOT NULL,
  _variable_list JSON NOT NULL,
  _t_size INT NOT NULL, _z_size INT NOT NULL, _x_size INT NOT NULL, _y_size INT NOT NULL,
  _x_split_count INT NOT NULL DEFAULT 10,
  _y_split_count INT NOT NULL DEFAULT 10,
  status         VARCHAR(10) NOT NULL,
  create_time    BIGINT NOT NULL,
  KEY by_time (status, create_time)
) SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}';

-- A row is a plane (variable, time, height); its blocks are attributes
-- block_x_y, so that the number of blocks is the data set's own affair.
CREATE TABLE grid_data (
  _id       VARCHAR(64) COLLATE utf8mb4_bin,
  _variable VARCHAR(64) COLLATE utf8mb4_bin,
  _t        INT,
  _z        INT,
  PRIMARY KEY (_id, _variable, _t, _z)
) SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}';

-- First the description, then the planes, then the word that all are there.
INSERT INTO grid_meta (_id, _data_type, _variable_list, _t_size, _z_size, _x_size, _y_size, _x_split_count, _y_split_count, status, create_time, source, accuracy, tag1)
VALUES ('forecast_1', 'SHORT', '["wind", "temperature"]', 4, 2, 8, 6, 2, 2, 'INIT', UNIX_TIMESTAMP() * 1000, 'ECMWF', '1km', 'test');

-- 8 by 6 points in blocks of 4 by 3: block size is (n - 1) DIV count + 1. A point
-- is two bytes, here 1000 t + 100 z + 10 x + y for temperature, half of it for wind.
INSERT INTO grid_data (_id, _variable, _t, _z, block_0_0, block_0_1, block_1_0, block_1_1)
SELECT 'forecast_1', variable, t, z,
  MAX(IF(bx = 0 AND `by` = 0, block, NULL)), MAX(IF(bx = 0 AND `by` = 1, block, NULL)),
  MAX(IF(bx = 1 AND `by` = 0, block, NULL)), MAX(IF(bx = 1 AND `by` = 1, block, NULL))
FROM (
  SELECT variable, t, z, x DIV 4 AS bx, y DIV 3 AS `by`,
    UNHEX(GROUP_CONCAT(LPAD(HEX((1000 * t + 100 * z + 10 * x + y) DIV part), 4, '0') ORDER BY x, y SEPARATOR '')) AS block
  FROM JSON_TABLE('[["temperature", 1], ["wind", 2]]', '$[*]' COLUMNS (variable VARCHAR(20) PATH '$[0]', part INT PATH '$[1]')) v,
    JSON_TABLE('[0, 1, 2, 3]', '$[*]' COLUMNS (t INT PATH '$')) t,
    JSON_TABLE('[0, 1]', '$[*]' COLUMNS (z INT PATH '$')) z,
    JSON_TABLE('[0, 1, 2, 3, 4, 5, 6, 7]', '$[*]' COLUMNS (x INT PATH '$')) x,
    JSON_TABLE('[0, 1, 2, 3, 4, 5]', '$[*]' COLUMNS (y INT PATH '$')) y
  GROUP BY variable, t, z, bx, `by`
) blocks GROUP BY variable, t, z;
UPDATE grid_meta SET status = 'DONE' WHERE _id = 'forecast_1';
INSERT INTO grid_meta (_id, _data_type, _variable_list, _t_size, _z_size, _x_size, _y_size, status, create_time, source, accuracy)
VALUES ('old', 'FLOAT', '["wind"]', 1, 10, 2880, 570, 'DONE', UNIX_TIMESTAMP() * 1000 - 2 * 86400000, 'NMC', '1km'),
  ('coming', 'FLOAT', '["wind"]', 1, 10, 2880, 570, 'INIT', UNIX_TIMESTAMP() * 1000, 'NMC', '1km'),
  ('coarse', 'FLOAT', '["wind"]', 1, 10, 2880, 570, 'DONE', UNIX_TIMESTAMP() * 1000, 'NMC', '10km');

-- Which data sets are ready, of the last day, from two sources, of one accuracy?
SELECT _id, source FROM grid_meta
WHERE status = 'DONE' AND create_time > UNIX_TIMESTAMP() * 1000 - 86400000 AND source IN ('ECMWF', 'NMC') AND accuracy = '1km'
ORDER BY create_time DESC LIMIT 10;
-- How large is one variable at one time?
SELECT _id, _z_size * _x_size * _y_size * 4 AS bytes, ROUND(_z_size * _x_size * _y_size * 4 / 1048576, 1) AS mib FROM grid_meta WHERE _id = 'old';

-- A plane: one row by its key.
SELECT LENGTH(block_0_0) + LENGTH(block_0_1) + LENGTH(block_1_0) + LENGTH(block_1_1) AS bytes, HEX(block_1_1)
FROM grid_data WHERE _id = 'forecast_1' AND _variable = 'temperature' AND _t = 2 AND _z = 1;
EXPLAIN FORMAT=TREE SELECT block_1_1 FROM grid_data WHERE _id = 'forecast_1' AND _variable = 'temperature' AND _t = 2 AND _z = 1;

-- A point through time: x 5, y 4 lies in block 1, 1 at 1, 1, the fifth of its
-- points. Only this block of each plane is read.
SELECT _t, CONV(HEX(SUBSTRING(block_1_1, 1 + 2 * ((5 % 4) * 3 + 4 % 3), 2)), 16, 10) AS temperature
FROM grid_data WHERE _id = 'forecast_1' AND _variable = 'temperature' AND _t BETWEEN 1 AND 3 AND _z = 1;
EXPLAIN FORMAT=TREE SELECT _t, block_1_1 FROM grid_data
WHERE _id = 'forecast_1' AND _variable = 'temperature' AND _t BETWEEN 1 AND 3 AND _z = 1;

-- Both variables at one point and time, side by side.
SELECT w._t, CONV(HEX(SUBSTRING(t.block_0_0, 1, 2)), 16, 10) AS temperature, CONV(HEX(SUBSTRING(w.block_0_0, 1, 2)), 16, 10) AS wind
FROM grid_data t JOIN grid_data w ON w._id = t._id AND w._t = t._t AND w._z = t._z
WHERE t._id = 'forecast_1' AND t._variable = 'temperature' AND w._variable = 'wind' AND t._z = 0 ORDER BY 1;
