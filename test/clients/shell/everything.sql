-- A schema and rows with what a dump has to carry; MySQL, MariaDB and sqlots read it.
CREATE TABLE numbers (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, ti TINYINT, tu TINYINT UNSIGNED, b1 TINYINT(1) NOT NULL DEFAULT 1, si SMALLINT, mi MEDIUMINT UNSIGNED, i INT DEFAULT -7, bi BIGINT, bu BIGINT UNSIGNED,
  de DECIMAL(65,30), d2 DECIMAL(10,2) DEFAULT 1.50, f FLOAT, d DOUBLE, bt BIT(10) DEFAULT b'101', y YEAR,
  PRIMARY KEY (id), UNIQUE KEY uq (ti, tu), KEY down_ (i DESC, bi)
) AUTO_INCREMENT = 100 COMMENT = 'it''s "numbers" \\ \n';
INSERT INTO numbers VALUES
  (1, -128, 255, 0, -32768, 16777215, -2147483648, -9223372036854775808, 18446744073709551615, 12345678901234567890123456789012345.123456789012345678901234567891, -99999999.99, 1.5, -1.7976931348623157e308, b'1111111111', 1901),
  (2, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO numbers (ti, f, d) VALUES (0, 3.4e38, 2.2250738585072014e-308), (1, 0.1, 0.1);
CREATE TABLE texts (
  k VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, c CHAR(10) DEFAULT 'de''f\\', v VARCHAR(200) COLLATE utf8mb4_unicode_ci, l VARCHAR(20) CHARACTER SET latin1, t TEXT, tt TINYTEXT, mt MEDIUMTEXT, lt LONGTEXT,
  b BINARY(4), vb VARBINARY(300), bl BLOB, lb LONGBLOB, e ENUM('a','it''s','c,d') NOT NULL DEFAULT 'a', s SET('x','y','z') DEFAULT 'x,z', j JSON,
  PRIMARY KEY (k), KEY pre (t(20)), KEY `odd name ``` (v(10), e)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_general_ci;
INSERT INTO texts VALUES
  ('quotes', 'a''b"c', 'back\\slash % _', 'ümläut', 'line\nfeed\ttab\rreturn\0nul\Zsub', '', REPEAT('ž', 1000), REPEAT('🐎 ', 3000), 'ab', 0x00FF27225C0A0D1A, 0x00, 0xDEADBEEF, 'it''s', 'x,y,z', '{"a": [1, 2.5, null, true], "b": {"ü": "\\"q\\""}}'),
  ('null', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'c,d', NULL, NULL),
  ('empty', '', '', '', '', '', '', '', '', '', '', '', 'a', '', '[]');
CREATE TABLE times (
  id INT NOT NULL, da DATE DEFAULT '2000-01-01', dt DATETIME DEFAULT CURRENT_TIMESTAMP, d6 DATETIME(6) DEFAULT NULL, ts TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, t3 TIMESTAMP(3) NULL, t TIME, t6 TIME(6), y YEAR,
  PRIMARY KEY (id)
);
INSERT INTO times VALUES (1, '1000-01-01', '9999-12-31 23:59:59', '2024-02-29 23:59:59.123456', '1970-01-02 00:00:01', '2038-01-18 03:14:07.999', '-838:59:59', '838:59:58.999999', 2155), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE parent (a INT NOT NULL, b VARCHAR(10) COLLATE utf8mb4_bin NOT NULL, note VARCHAR(30), PRIMARY KEY (a, b), UNIQUE KEY (note)) COLLATE = utf8mb4_general_ci;
CREATE TABLE child (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(10) COLLATE utf8mb4_bin, up INT, CONSTRAINT to_parent FOREIGN KEY (a, b) REFERENCES parent (a, b) ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT to_self FOREIGN KEY (up) REFERENCES child (id) ON DELETE SET NULL) COLLATE = utf8mb4_general_ci;
INSERT INTO parent VALUES (1, 'x', 'one'), (2, 'y', NULL), (3, 'z', NULL);
INSERT INTO child VALUES (5, 1, 'x', NULL), (6, NULL, NULL, 5), (7, 2, 'y', 7);
-- Loads before the table that it refers to, as dumps go by name.
CREATE TABLE aaa (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES child (id));
INSERT INTO aaa VALUES (1, 5), (2, 7);
CREATE TABLE derived (
  id INT PRIMARY KEY, price DECIMAL(10,2), qty INT, total DECIMAL(12,2) GENERATED ALWAYS AS (price * qty) STORED, name VARCHAR(30), low VARCHAR(30) AS (LOWER(name)) VIRTUAL, doc JSON, city VARCHAR(30) AS (JSON_UNQUOTE(JSON_EXTRACT(doc, '$.city'))) STORED,
  KEY by_total (total), KEY by_low (low), CONSTRAINT dear CHECK (price < 1000), CHECK (qty >= 0 AND (name IS NULL OR name <> '%s'))
);
INSERT INTO derived (id, price, qty, name, doc) VALUES (1, 9.99, 3, 'ANN', '{"city": "Bonn"}'), (2, NULL, 4, NULL, NULL), (3, 1.5, 0, 'bOb', '{"x": 1}');
CREATE TABLE `no key` (`a b` INT, `sel``ect` VARCHAR(5));
INSERT INTO `no key` VALUES (1, 'a'), (1, 'a'), (NULL, NULL);
CREATE TABLE empty (id INT);
CREATE TABLE many (id INT PRIMARY KEY, v VARCHAR(100), KEY (v));
INSERT INTO many WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 900) SELECT n, CONCAT('row ', n, ' ', REPEAT(CHAR(65 + n % 26), 60)) FROM s;
CREATE VIEW dear_things AS SELECT id, total, CAST(price AS CHAR(8)) AS text, CASE WHEN qty > 2 THEN 'many' ELSE 'few' END AS how FROM derived WHERE total > 1 WITH CHECK OPTION;
CREATE VIEW above AS SELECT d.id, n.bi, CONCAT(d.name, '-', d.id) AS label FROM derived d LEFT JOIN numbers n ON n.id = d.id;
CREATE VIEW a_view (x, n) AS SELECT how, COUNT(*) FROM dear_things GROUP BY how;
CREATE VIEW dated AS SELECT id, DATE_FORMAT(d6, '%Y-%m') AS month, d6 + INTERVAL 1 DAY AS later, EXTRACT(YEAR FROM da) AS y, IFNULL(t, '00:00:00') AS t FROM times WHERE id IN (1, 2) OR da BETWEEN '2000-01-01' AND '2001-01-01';
CREATE VIEW ranked AS SELECT id, v, ROW_NUMBER() OVER (ORDER BY id DESC) AS r FROM many WHERE v LIKE 'row 1%';
CREATE VIEW sub AS SELECT id, (SELECT COUNT(*) FROM child c WHERE c.a = p.a) AS n FROM (SELECT a, a AS id FROM parent) AS p WHERE EXISTS (SELECT 1 FROM child WHERE child.a = p.a);
