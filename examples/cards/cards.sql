-- What students pay with their cards: keys and their order. Run it in this folder:
--   sqlots sql < cards.sql
DROP DATABASE IF EXISTS example_cards;
CREATE DATABASE example_cards;
USE example_cards;

-- A key of several columns orders the rows by each column in turn. Nothing
-- has to be padded or glued together.
CREATE TABLE cards (
  DeviceID    INT NOT NULL,
  SellerID    VARCHAR(20) COLLATE utf8mb4_bin NOT NULL,
  CardID      INT NOT NULL,
  OrderNumber INT NOT NULL,
  PRIMARY KEY (DeviceID, SellerID, CardID, OrderNumber)
);
INSERT INTO cards VALUES
  (16, 'a100', 66661, 200001),
  (54, 'a100', 6777, 200003),
  (54, 'a1001', 6777, 200004),
  (167, 'a101', 283408, 200002);

-- All payments, in the order of the key.
SELECT * FROM cards;

-- The devices from 15 up to 99: one range of the key.
SELECT OrderNumber FROM cards WHERE DeviceID >= 15 AND DeviceID < 100;
EXPLAIN FORMAT=TREE SELECT OrderNumber FROM cards WHERE DeviceID >= 15 AND DeviceID < 100;

-- What becomes of the order when the columns are joined to one text: plainly,
-- padded, and padded with a separator that is smaller than all digits.
SELECT CONCAT_WS(':', DeviceID, SellerID, CardID) AS k FROM cards ORDER BY CAST(k AS BINARY);
SELECT CONCAT_WS(':', LPAD(DeviceID, 6, '0'), SellerID, CardID) AS k FROM cards ORDER BY CAST(k AS BINARY);
SELECT CONCAT_WS(',', LPAD(DeviceID, 6, '0'), SellerID, CardID) AS k FROM cards ORDER BY CAST(k AS BINARY);

-- The third of them as a key that is computed, for readers that know no other.
CREATE TABLE cards_joined (
  k           VARCHAR(64) COLLATE utf8mb4_bin AS (CONCAT_WS(',', LPAD(DeviceID, 6, '0'), SellerID, CardID)) STORED NOT NULL,
  DeviceID    INT NOT NULL,
  SellerID    VARCHAR(20) COLLATE utf8mb4_bin NOT NULL,
  CardID      INT NOT NULL,
  OrderNumber INT NOT NULL,
  PRIMARY KEY (k)
);
INSERT INTO cards_joined (DeviceID, SellerID, CardID, OrderNumber) SELECT * FROM cards;
SELECT k, OrderNumber FROM cards_joined WHERE k >= '000015' AND k < '000100';

-- Numbers that count up would all be written at the end of the table. A prefix
-- of a hash spreads them. (The hash is that of the number and a newline, as
-- `echo 200001 | md5sum` makes it.)
CREATE TABLE cards_spread (
  k           CHAR(10) COLLATE utf8mb4_bin AS (CONCAT(LEFT(MD5(CONCAT(OrderNumber, '\n')), 4), OrderNumber)) STORED NOT NULL,
  OrderNumber INT NOT NULL,
  DeviceID    INT NOT NULL,
  SellerID    VARCHAR(20) COLLATE utf8mb4_bin NOT NULL,
  CardID      INT NOT NULL,
  PRIMARY KEY (k)
);
INSERT INTO cards_spread (OrderNumber, DeviceID, SellerID, CardID) SELECT OrderNumber, DeviceID, SellerID, CardID FROM cards;
INSERT INTO cards_spread (OrderNumber, DeviceID, SellerID, CardID) VALUES (200005, 66, 'b304', 178994);
SELECT k, DeviceID FROM cards_spread;

-- One order by its number: the key is computed before the table is read.
SELECT DeviceID, SellerID, CardID FROM cards_spread
WHERE k = CONCAT(LEFT(MD5(CONCAT(200003, '\n')), 4), 200003);
EXPLAIN FORMAT=TREE SELECT DeviceID FROM cards_spread
WHERE k = CONCAT(LEFT(MD5(CONCAT(200003, '\n')), 4), 200003);
