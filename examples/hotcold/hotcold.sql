-- What is asked often apart from what is not: tables of months, long texts beside
-- their rows, compression. Run it in this folder:
--   sqlots sql < hotcold.sql
DROP DATABASE IF EXISTS example_hotcold;
CREATE DATABASE example_hotcold;
USE example_hotcold;

-- A table for each month. Everyday work goes to the hot one; an old month is
-- dropped in an instant, or kept on a server of its own.
CREATE TABLE orders_hot (
  user    BIGINT NOT NULL,
  at      DATETIME NOT NULL,
  id      BIGINT NOT NULL,
  product VARCHAR(40),
  total   DECIMAL(10,2),
  PRIMARY KEY (user, at, id)
);
CREATE TABLE orders_2024_03 LIKE orders_hot;
CREATE TABLE orders_2024_04 LIKE orders_hot;
ALTER TABLE orders_2024_03 ADD CONSTRAINT march CHECK (at >= '2024-03-01' AND at < '2024-04-01');
ALTER TABLE orders_2024_04 ADD CONSTRAINT april CHECK (at >= '2024-04-01' AND at < '2024-05-01');

-- Two hundred orders of ten users, from the first of March on.
INSERT INTO orders_hot
WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 199)
SELECT i % 10, DATE_ADD('2024-03-01', INTERVAL 9 * i HOUR), i, ELT(1 + i % 4, '茶叶', '电脑', 'lamp', 'desk'), 10 + i % 50 FROM n;

-- A month gets cold: its rows move in one transaction, so that every reader
-- finds each of them in one place.
BEGIN;
INSERT INTO orders_2024_03 SELECT * FROM orders_hot WHERE at < '2024-04-01';
DELETE FROM orders_hot WHERE at < '2024-04-01';
COMMIT;
BEGIN;
INSERT INTO orders_2024_04 SELECT * FROM orders_hot WHERE at < '2024-05-01';
DELETE FROM orders_hot WHERE at < '2024-05-01';
COMMIT;

-- All months together. Conditions reach each table's own key.
CREATE VIEW orders AS
SELECT * FROM orders_hot UNION ALL SELECT * FROM orders_2024_04 UNION ALL SELECT * FROM orders_2024_03;
SELECT COUNT(*), SUM(total), MIN(at), MAX(at) FROM orders;
SELECT at, product, total FROM orders WHERE user = 7 AND at >= '2024-04-25' ORDER BY at;
EXPLAIN FORMAT=TREE SELECT at, product FROM orders WHERE user = 7 AND at >= '2024-04-25';
SELECT DATE_FORMAT(at, '%Y-%m') AS month, COUNT(*), SUM(total) FROM orders GROUP BY month ORDER BY month;

-- March is given away: from then on it is not asked.
CREATE OR REPLACE VIEW orders AS SELECT * FROM orders_hot UNION ALL SELECT * FROM orders_2024_04;
DROP TABLE orders_2024_03;
SELECT COUNT(*), MIN(at) FROM orders;

-- Long texts that seldom change stand in a table of their own: what changes
-- with each order, stock and price, is a small row.
CREATE TABLE goods (id BIGINT PRIMARY KEY, name VARCHAR(60) NOT NULL, stock INT NOT NULL, price DECIMAL(10,2) NOT NULL, KEY name (name));
CREATE TABLE goods_text (id BIGINT PRIMARY KEY, description TEXT, manual LONGBLOB);
INSERT INTO goods VALUES (1, '西湖龙井茶叶', 100, 300), (2, 'desk', 5, 120.50), (3, 'lamp', 40, 18);
INSERT INTO goods_text (id, description) VALUES (1, REPEAT('杭州的绿茶。', 400)), (2, REPEAT('A desk of oak. ', 300)), (3, 'A lamp.');
UPDATE goods SET stock = stock - 2 WHERE id = 1 AND stock >= 2;
SELECT name, stock, price FROM goods WHERE price < 200 ORDER BY price;
SELECT g.name, g.stock, LEFT(t.description, 12) AS begins, CHAR_LENGTH(t.description) AS characters
FROM goods g JOIN goods_text t ON t.id = g.id WHERE g.name LIKE '%茶%';
EXPLAIN FORMAT=TREE SELECT g.name, t.description FROM goods g JOIN goods_text t ON t.id = g.id WHERE g.id = 1;

-- The store compresses its blocks by itself. What is larger than a block, and
-- read as a whole, may be compressed before it is sent.
UPDATE goods_text SET manual = COMPRESS(REPEAT('Turn the screw to the right. ', 20000)) WHERE id = 2;
SELECT UNCOMPRESSED_LENGTH(manual) AS long_, LENGTH(manual) < 20000 AS small, LEFT(UNCOMPRESS(manual), 15) AS begins FROM goods_text WHERE id = 2;
