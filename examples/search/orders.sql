-- Orders by any combination of conditions. Run it in this folder:
--   sqlots sql < orders.sql
DROP DATABASE IF EXISTS example_search_orders;
CREATE DATABASE example_search_orders;
USE example_search_orders;

-- Where ../orders has an index for each question, here is one for all.
CREATE TABLE order_contract (
  oId CHAR(32) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, create_time BIGINT NOT NULL, pay_time BIGINT, has_paid BOOL NOT NULL, c_id VARCHAR(20) NOT NULL, c_name VARCHAR(50) NOT NULL,
  p_brand VARCHAR(50) NOT NULL, p_count INT NOT NULL, p_id VARCHAR(20) NOT NULL, p_name VARCHAR(100) NOT NULL, p_price DECIMAL(10,2) NOT NULL,
  s_id VARCHAR(20) NOT NULL, s_name VARCHAR(50) NOT NULL, total_price DECIMAL(12,2) NOT NULL,
  SEARCH INDEX order_contract_index (c_id, c_name, s_id, p_id, p_brand, p_name, p_price, p_count, pay_time, has_paid, total_price, p_name TEXT)
);
LOAD DATA LOCAL INFILE '../orders/orders.csv' INTO TABLE order_contract CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' IGNORE 1 LINES
  (oId, create_time, @pay, has_paid, c_id, c_name, p_brand, p_count, p_id, p_name, p_price, s_id, s_name, total_price) SET pay_time = NULLIF(@pay, '');
ANALYZE TABLE order_contract;

-- A consumer's big orders; his computers of half a year, the newest first.
SELECT COUNT(*) AS n, SUM(total_price) AS total FROM order_contract WHERE c_id = 'c0001' AND total_price >= 99.99;
SELECT pay_time, p_name, total_price FROM order_contract
WHERE c_id = 'c0001' AND pay_time >= 1609430400000000 AND pay_time < 1625068800000000 AND p_name LIKE '%电脑%' ORDER BY pay_time DESC, oId LIMIT 3;

-- A seller's months, brands and prices.
SELECT COUNT(*) AS n FROM order_contract WHERE s_id = 's0002' AND pay_time >= 1612108800000000;
SELECT p_name, p_price FROM order_contract WHERE s_id = 's0003' AND p_brand = '品牌22' AND p_price > 500 ORDER BY p_price DESC, oId LIMIT 3;
SELECT COUNT(*) AS n, AVG(p_price) AS price FROM order_contract WHERE p_brand = '品牌21' AND p_price BETWEEN 300 AND 2000;

-- Words of products.
SELECT p_name, COUNT(*) AS n FROM order_contract WHERE MATCH (p_name) AGAINST ('+"手机" -"品牌21"' IN BOOLEAN MODE) GROUP BY p_name ORDER BY n DESC, p_name LIMIT 3;

-- Who orders most, who pays most, what sells best.
SELECT COUNT(*) AS count, c_id AS cId FROM order_contract GROUP BY c_id ORDER BY count DESC, cId LIMIT 3;
SELECT c_id, SUM(total_price) AS s FROM order_contract WHERE pay_time > 1609516800000000 GROUP BY c_id ORDER BY s DESC, c_id LIMIT 3;
SELECT p_id, SUM(p_count) AS pieces FROM order_contract WHERE s_id = 's0001' GROUP BY p_id ORDER BY pieces DESC, p_id LIMIT 3;

-- A combination, and orders that are not paid yet.
SELECT p_name, p_price, total_price FROM order_contract
WHERE total_price > 2000 AND p_brand LIKE '%牌22%' AND pay_time > 1609516800000000 ORDER BY p_price DESC, oId LIMIT 3;
SELECT COUNT(*) AS n, COUNT(DISTINCT c_id) AS consumers FROM order_contract WHERE NOT has_paid AND pay_time IS NULL;
EXPLAIN FORMAT=TREE SELECT c_id, total_price FROM order_contract FORCE INDEX (order_contract_index) WHERE p_brand LIKE '%牌22%' AND total_price > 2000;
