-- A live stream with a shop: what visitors do, what they buy, and what follows
-- from it. Run it in this folder:
--   sqlots sql < live.sql
DROP DATABASE IF EXISTS example_live;
CREATE DATABASE example_live;
USE example_live;
SET time_zone = '+08:00';

-- part_key spreads users over the table. In the source it is '01f3', which is
-- no hash of the user; a computed column could not be wrong:
--   part_key CHAR(4) AS (LEFT(MD5(user_id), 4)) STORED
CREATE TABLE room_events (
  part_key  CHAR(4) CHARACTER SET ascii,
  user_id   CHAR(6) CHARACTER SET ascii,
  room_id   CHAR(3) CHARACTER SET ascii,
  timestamp BIGINT,
  operation VARCHAR(20) NOT NULL,
  actor_id  CHAR(3) CHARACTER SET ascii,
  PRIMARY KEY (part_key, user_id, room_id, timestamp),
  KEY by_operation (operation, timestamp) INCLUDE (actor_id)
) SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}';
INSERT INTO room_events (part_key, user_id, room_id, timestamp, operation, actor_id, device, network) VALUES
  ('01f3', '000001', '001', 1495246210, '进入房间', '005', 'Iphone7', '4G'),
  ('01f3', '000001', '001', 1495246810, '点赞', '005', 'Iphone7', '4G'),
  ('01f3', '000001', '001', 1495256810, '鲜花', '005', 'Iphone7', '4G'),
  ('01f3', '000001', '001', 1495259810, '关注主播', '005', 'Iphone7', '4G'),
  ('01f3', '000001', '001', 1495266810, '退出房间', '005', 'Iphone7', '4G');
SELECT LEFT(MD5('000001'), 4) AS `of the user`, LEFT(MD5('000001\n'), 4) AS `with a newline`;

-- What a user did, in the order of time, and for how long.
SELECT FROM_UNIXTIME(timestamp, '%H:%i:%s') AS time, operation FROM room_events WHERE part_key = '01f3' AND user_id = '000001' AND room_id = '001';
SELECT MAX(timestamp) - MIN(timestamp) AS seconds FROM room_events WHERE part_key = '01f3' AND user_id = '000001' AND room_id = '001';
EXPLAIN FORMAT=TREE SELECT operation FROM room_events WHERE part_key = '01f3' AND user_id = '000001' AND room_id = '001' ORDER BY timestamp DESC;
SELECT device, network, COUNT(*) FROM room_events GROUP BY device, network;

-- Some visitors who pay.
INSERT INTO room_events (part_key, user_id, room_id, timestamp, operation, actor_id, amount) VALUES
  ('8b3e', '000002', '001', 1495246300, '支付', '005', 10), ('8b3e', '000002', '001', 1495246700, '支付', '005', 5.5),
  ('5c1a', '000003', '001', 1495246750, '支付', '005', 20), ('5c1a', '000003', '002', 1495246100, '支付', '006', 99);
-- Who paid in the ten minutes before 10:20:10?
SELECT COUNT(DISTINCT user_id) FROM room_events WHERE operation = '支付' AND timestamp > 1495246810 - 600 AND timestamp <= 1495246810;
-- By hour, and by actor.
SELECT FROM_UNIXTIME(timestamp, '%Y-%m-%d %H') AS hour, COUNT(*) AS events FROM room_events GROUP BY hour ORDER BY events DESC, hour;
SELECT actor_id, COUNT(*) AS payments, SUM(amount) AS paid FROM room_events WHERE operation = '支付' GROUP BY actor_id ORDER BY paid DESC;

-- Orders and the stock. The orders tell what happens to them.
CREATE TABLE orders (
  partition_key CHAR(4) CHARACTER SET ascii,
  user_id       CHAR(6) CHARACTER SET ascii,
  timestamp     BIGINT,
  order_id      CHAR(8) CHARACTER SET ascii,
  commodity_id  BIGINT NOT NULL,
  price         DECIMAL(10,2) NOT NULL,
  count         INT NOT NULL,
  total         DECIMAL(12,2) NOT NULL,
  pay_type      VARCHAR(20),
  status        VARCHAR(20) NOT NULL,
  PRIMARY KEY (partition_key, user_id, timestamp, order_id),
  UNIQUE KEY (order_id),
  CHECK (total = price * count)
) SECONDARY_ENGINE_ATTRIBUTE='{"stream":{"retention":"7d"}}';
CREATE TABLE stock (commodity_id BIGINT PRIMARY KEY, left_over INT NOT NULL, CHECK (left_over >= 0));
INSERT INTO stock VALUES (5, 100), (6, 1);
CALL sqlots.stream_consumer('example_stock', 'example_live.orders');

INSERT INTO orders VALUES ('01f3', '000001', 1495246210, '10005', 5, 15, 2, 30, 'alipay', 'finished');
INSERT INTO orders VALUES ('01f3', '000001', 1495346210, '10006', 5, 15, 1, 15, 'alipay', 'unpaid');
-- What a user ordered in some time.
SELECT FROM_UNIXTIME(timestamp) AS time, order_id, commodity_id, price, count, total, pay_type, status FROM orders
WHERE partition_key = '01f3' AND user_id = '000001' AND timestamp BETWEEN 1495246000 AND 1495247000;

-- The stock follows the log of the orders: new orders that are finished, and
-- those that become so. Stock and checkpoint change together.
START TRANSACTION;
SET @last = (SELECT MAX(seq) FROM stream('example_live.orders', 'example_stock'));
UPDATE stock s JOIN (
  SELECT after_image->>'$.commodity_id' AS id, SUM(after_image->>'$.count') AS n FROM stream('example_live.orders', 'example_stock')
  WHERE kind IN ('insert', 'update') AND after_image->>'$.status' = 'finished' AND IFNULL(before_image->>'$.status', '') <> 'finished' AND seq <= @last
  GROUP BY id) sold ON sold.id = s.commodity_id
SET s.left_over = s.left_over - sold.n;
CALL sqlots.stream_checkpoint('example_stock', @last);
COMMIT;
SELECT * FROM stock;

UPDATE orders SET status = 'finished' WHERE partition_key = '01f3' AND user_id = '000001' AND timestamp = 1495346210;
SELECT kind, pk->>'$.order_id' AS `order`, before_image->>'$.status' AS was, after_image->>'$.status' AS `is` FROM stream('example_live.orders', 'example_stock');
START TRANSACTION;
SET @last = (SELECT MAX(seq) FROM stream('example_live.orders', 'example_stock'));
UPDATE stock s JOIN (
  SELECT after_image->>'$.commodity_id' AS id, SUM(after_image->>'$.count') AS n FROM stream('example_live.orders', 'example_stock')
  WHERE kind IN ('insert', 'update') AND after_image->>'$.status' = 'finished' AND IFNULL(before_image->>'$.status', '') <> 'finished' AND seq <= @last
  GROUP BY id) sold ON sold.id = s.commodity_id
SET s.left_over = s.left_over - sold.n;
CALL sqlots.stream_checkpoint('example_stock', @last);
COMMIT;
SELECT * FROM stock;

-- Who buys the same again and again?
SELECT user_id, commodity_id, COUNT(*) AS orders FROM orders GROUP BY user_id, commodity_id HAVING COUNT(*) > 1;

-- Goods by place and price. (Words in names need a search index.)
CREATE TABLE commodities (
  partition_key CHAR(4) CHARACTER SET ascii,
  merchant_id   CHAR(6) CHARACTER SET ascii,
  commodity_id  BIGINT,
  name          VARCHAR(100) NOT NULL,
  location      VARCHAR(20) NOT NULL,
  price         DECIMAL(10,2) NOT NULL,
  PRIMARY KEY (partition_key, merchant_id, commodity_id),
  KEY by_location (location, price)
) SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}';
INSERT INTO commodities (partition_key, merchant_id, commodity_id, name, location, price, age, property)
VALUES ('01f3', '000001', 10005, '西湖龙井茶叶', '杭州', 300, 'above 12', 'XXXXX');
SELECT COUNT(*) FROM commodities WHERE location = '杭州' AND price BETWEEN 50 AND 100;
SELECT name, price, age FROM commodities WHERE name LIKE '%茶%';
CALL sqlots.stream_drop_consumer('example_stock');
