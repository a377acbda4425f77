-- Orders of a shop, asked from all sides. Run it in this folder:
--   sqlots sql < orders.sql
DROP DATABASE IF EXISTS example_orders;
CREATE DATABASE example_orders;
USE example_orders;

-- The key is the MD5 of a number, so that orders spread over the table. Times
-- are microseconds since 1970. Each question has its index.
CREATE TABLE order_contract (
  oId         CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  create_time BIGINT NOT NULL,
  pay_time    BIGINT,
  has_paid    BOOLEAN NOT NULL,
  c_id        VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  c_name      VARCHAR(40) NOT NULL,
  p_brand     VARCHAR(40) NOT NULL,
  p_count     INT NOT NULL,
  p_id        VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  p_name      VARCHAR(80) NOT NULL,
  p_price     DECIMAL(10,2) NOT NULL,
  s_id        VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  s_name      VARCHAR(40) NOT NULL,
  total_price DECIMAL(12,2) NOT NULL,
  PRIMARY KEY (oId),
  KEY idx_cId (c_id, pay_time),
  KEY by_seller (s_id, pay_time),
  KEY by_brand (p_brand, p_price),
  KEY by_pay_time (pay_time) /*sqlots! INCLUDE (c_id, total_price) */,
  KEY unpaid (create_time) /*sqlots! WHERE has_paid = 0 */
) /*sqlots! SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}' */;

LOAD DATA LOCAL INFILE 'orders.csv' INTO TABLE order_contract CHARACTER SET utf8mb4
  FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY '\n' IGNORE 1 LINES
  (oId, create_time, @paid, has_paid, c_id, c_name, p_brand, p_count, p_id, p_name, p_price, s_id, s_name, total_price)
  SET pay_time = NULLIF(@paid, '');
ANALYZE TABLE order_contract;

SELECT COUNT(*), COUNT(pay_time), COUNT(DISTINCT c_id), COUNT(DISTINCT s_id), SUM(total_price) FROM order_contract;

-- A consumer's orders from 99.99 on.
SELECT p_name, p_count, total_price FROM order_contract WHERE c_id = 'c0001' AND total_price >= 99.99 ORDER BY pay_time LIMIT 5;
EXPLAIN FORMAT=TREE SELECT p_name FROM order_contract WHERE c_id = 'c0001' AND total_price >= 99.99 ORDER BY pay_time LIMIT 5;

-- A consumer, a year, computers, the latest first.
SELECT FROM_UNIXTIME(pay_time DIV 1000000, '%Y-%m-%d') AS day, p_name, total_price FROM order_contract
WHERE c_id = 'c0001' AND pay_time >= 1609459200000000 AND pay_time < 1640995200000000 AND p_name LIKE '%电脑%'
ORDER BY pay_time DESC LIMIT 10;
EXPLAIN FORMAT=TREE SELECT p_name, total_price FROM order_contract
WHERE c_id = 'c0001' AND pay_time >= 1609459200000000 AND pay_time < 1640995200000000 AND p_name LIKE '%电脑%'
ORDER BY pay_time DESC LIMIT 10;

-- A seller since the first of July.
SELECT COUNT(*), SUM(total_price) FROM order_contract WHERE s_id = 's0003' AND pay_time >= 1625097600000000;

-- A seller, a brand, above a price.
SELECT p_name, p_price FROM order_contract WHERE s_id = 's0003' AND p_brand = '品牌22' AND p_price > 500 ORDER BY p_price, oId;

-- A brand within two prices, both included, and how many there are.
SELECT COUNT(*) FROM order_contract WHERE p_brand = '品牌22' AND p_price BETWEEN 1000 AND 3000;
EXPLAIN FORMAT=TREE SELECT COUNT(*) FROM order_contract WHERE p_brand = '品牌22' AND p_price BETWEEN 1000 AND 3000;

-- Names that contain a word. (A search index will find them by their words; now all rows are read.)
SELECT COUNT(*), MIN(p_name), MAX(p_name) FROM order_contract WHERE p_name LIKE CONCAT('%', '手机', '%');

-- Orders by consumer.
SELECT COUNT(*) AS count, c_id cId FROM order_contract GROUP BY c_id ORDER BY count DESC, c_id LIMIT 5;

-- Who bought for how much since the end of June 2021? The index has all the columns.
SELECT c_id, SUM(total_price) s FROM order_contract WHERE pay_time > 1624982400000000 GROUP BY c_id ORDER BY s DESC LIMIT 10;
EXPLAIN FORMAT=TREE SELECT c_id, SUM(total_price) s FROM order_contract FORCE INDEX (by_pay_time)
WHERE pay_time > 1624982400000000 GROUP BY c_id ORDER BY s DESC LIMIT 10;

-- Several conditions at once.
SELECT p_name, p_price, total_price FROM order_contract
WHERE total_price > 2000 AND p_brand LIKE '%牌22%' AND pay_time > 1624982400000000 ORDER BY p_price DESC, oId LIMIT 5;

-- What sells at a seller's.
SELECT p_id, SUM(p_count) FROM order_contract WHERE s_id = 's0003' GROUP BY p_id ORDER BY 2 DESC, p_id LIMIT 5;

-- What waits for payment the longest? The index has entries of such orders only.
SELECT create_time, total_price FROM order_contract WHERE has_paid = 0 ORDER BY create_time LIMIT 3;
EXPLAIN FORMAT=TREE SELECT create_time, total_price FROM order_contract WHERE has_paid = 0 ORDER BY create_time LIMIT 3;

-- Page by page: the next page begins behind the last row, not at an offset.
SELECT pay_time, oId, total_price FROM order_contract WHERE c_id = 'c0002' AND pay_time IS NOT NULL
ORDER BY pay_time DESC, oId DESC LIMIT 3;
SELECT pay_time, oId, total_price FROM order_contract
WHERE c_id = 'c0002' AND (pay_time, oId) < (1638702840000000, 'eba0dc302bcd9a273f8bbb72be3a687b')
ORDER BY pay_time DESC, oId DESC LIMIT 3;
EXPLAIN FORMAT=TREE SELECT pay_time, oId FROM order_contract
WHERE c_id = 'c0002' AND (pay_time, oId) < (1638702840000000, 'eba0dc302bcd9a273f8bbb72be3a687b')
ORDER BY pay_time DESC, oId DESC LIMIT 3;

-- Paying: the order, and what came with the payment, an attribute that only this one has.
START TRANSACTION;
UPDATE order_contract SET has_paid = 1, pay_time = create_time + 60000000, coupon = 'SUMMER' WHERE oId = MD5('7') AND has_paid = 0;
SELECT has_paid, pay_time - create_time, coupon FROM order_contract WHERE oId = MD5('7');
COMMIT;
SELECT COUNT(*), COUNT(coupon) FROM order_contract WHERE has_paid = 1;
