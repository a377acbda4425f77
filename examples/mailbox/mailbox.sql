-- A mailbox: a mail, what finds it and the counters of its user change together.
-- Run it in this folder:
--   sqlots sql < mailbox.sql
DROP DATABASE IF EXISTS example_mailbox;
CREATE DATABASE example_mailbox;
USE example_mailbox;

-- One table has all of a user side by side: the mails, entries that find them
-- by folder and by time, and counters. This is how a store without secondary
-- indexes does it; its transactions are those of one first key column.
CREATE TABLE mailbox (
  UserID     VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
  Type       VARCHAR(10) COLLATE utf8mb4_bin NOT NULL, -- mail, folder, time, counter
  IndexField VARCHAR(64) COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  MailID     BIGINT NOT NULL DEFAULT 0,
  title      VARCHAR(200),
  body       TEXT,
  n          BIGINT,
  PRIMARY KEY (UserID, Type, IndexField, MailID)
);
INSERT INTO mailbox (UserID, Type, IndexField, n) VALUES
  ('anna', 'counter', 'unread', 0), ('anna', 'counter', 'mails', 0),
  ('ben', 'counter', 'unread', 0), ('ben', 'counter', 'mails', 0);

-- Other users have mail as well.
INSERT INTO mailbox (UserID, Type, IndexField, MailID, title)
WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 599)
SELECT CONCAT('user', n.i % 100), k.Type, IF(k.Type = 'time', DATE_ADD('2024-04-01', INTERVAL n.i HOUR), ''), 1000 + n.i, CONCAT('mail ', n.i)
FROM n, (SELECT 'mail' AS Type UNION ALL SELECT 'time') k;

-- A mail comes: three rows and two counters, all of it or nothing.
BEGIN;
INSERT INTO mailbox (UserID, Type, IndexField, MailID, title, body) VALUES
  ('anna', 'mail', '', 1, 'Hello', 'How are you?'),
  ('anna', 'folder', 'inbox', 1, 'Hello', NULL),
  ('anna', 'time', '2024-05-01 10:00:00', 1, 'Hello', NULL);
UPDATE mailbox SET n = n + 1 WHERE UserID = 'anna' AND Type = 'counter' AND IndexField IN ('unread', 'mails');
COMMIT;

BEGIN;
INSERT INTO mailbox (UserID, Type, IndexField, MailID, title, body) VALUES
  ('anna', 'mail', '', 2, '发票', '五月的发票在附件里'),
  ('anna', 'folder', 'inbox', 2, '发票', NULL),
  ('anna', 'time', '2024-05-02 09:30:00', 2, '发票', NULL);
UPDATE mailbox SET n = n + 1 WHERE UserID = 'anna' AND Type = 'counter' AND IndexField IN ('unread', 'mails');
COMMIT;

-- Something goes wrong in the middle: nothing of it stays, nor in the counters.
BEGIN;
UPDATE mailbox SET n = n + 1 WHERE UserID = 'anna' AND Type = 'counter' AND IndexField IN ('unread', 'mails');
INSERT IGNORE INTO mailbox (UserID, Type, IndexField, MailID, title) VALUES ('anna', 'folder', 'inbox', 3, 'lost');
ROLLBACK;
SELECT IndexField, n FROM mailbox WHERE UserID = 'anna' AND Type = 'counter';

-- From one user to another: two mailboxes in one transaction.
BEGIN;
INSERT INTO mailbox (UserID, Type, IndexField, MailID, title, body) VALUES
  ('ben', 'mail', '', 4, 'Re: Hello', 'Fine!'),
  ('ben', 'folder', 'sent', 4, 'Re: Hello', NULL),
  ('ben', 'time', '2024-05-02 11:00:00', 4, 'Re: Hello', NULL),
  ('anna', 'mail', '', 4, 'Re: Hello', 'Fine!'),
  ('anna', 'folder', 'inbox', 4, 'Re: Hello', NULL),
  ('anna', 'time', '2024-05-02 11:00:00', 4, 'Re: Hello', NULL);
UPDATE mailbox SET n = n + 1 WHERE UserID = 'ben' AND Type = 'counter' AND IndexField = 'mails';
UPDATE mailbox SET n = n + 1 WHERE UserID = 'anna' AND Type = 'counter' AND IndexField IN ('unread', 'mails');
COMMIT;

-- A folder is a range, the newest mails are another one read backwards, a
-- counter is a point.
SELECT MailID, title FROM mailbox WHERE UserID = 'anna' AND Type = 'folder' AND IndexField = 'inbox';
SELECT IndexField AS at, title FROM mailbox WHERE UserID = 'anna' AND Type = 'time' ORDER BY IndexField DESC, MailID DESC LIMIT 2;
SELECT n FROM mailbox WHERE UserID = 'anna' AND Type = 'counter' AND IndexField = 'unread' AND MailID = 0;
EXPLAIN FORMAT=TREE SELECT IndexField, title FROM mailbox WHERE UserID = 'anna' AND Type = 'time' ORDER BY IndexField DESC, MailID DESC LIMIT 2;

-- A mail is read and filed: its entry moves, a counter goes down.
BEGIN;
SELECT n FROM mailbox WHERE UserID = 'anna' AND Type = 'counter' AND IndexField = 'unread' AND MailID = 0 FOR UPDATE;
UPDATE mailbox SET IndexField = 'bills' WHERE UserID = 'anna' AND Type = 'folder' AND IndexField = 'inbox' AND MailID = 2;
UPDATE mailbox SET n = n - 1 WHERE UserID = 'anna' AND Type = 'counter' AND IndexField = 'unread';
COMMIT;
SELECT IndexField AS folder, COUNT(*) FROM mailbox WHERE UserID = 'anna' AND Type = 'folder' GROUP BY IndexField;

-- The counters are what the rows say.
SELECT UserID, SUM(Type = 'mail') AS mails, MAX(IF(Type = 'counter' AND IndexField = 'mails', n, NULL)) AS counted
FROM mailbox WHERE UserID IN ('anna', 'ben') GROUP BY UserID;

-- With secondary indexes a mail is one row: its entries move with it, and none
-- can be forgotten. Counters remain a row of their own, or a COUNT of an index.
CREATE TABLE mail (
  user    VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
  id      BIGINT NOT NULL,
  folder  VARCHAR(64) COLLATE utf8mb4_bin NOT NULL DEFAULT 'inbox',
  sent    DATETIME NOT NULL,
  is_read BOOL NOT NULL DEFAULT FALSE,
  title   VARCHAR(200),
  body    TEXT,
  PRIMARY KEY (user, id),
  KEY by_folder (user, folder, sent DESC) /*sqlots! INCLUDE (title) */,
  KEY unread (user, is_read)
);
INSERT INTO mail (user, id, sent, title, body)
SELECT m.UserID, m.MailID, t.IndexField, m.title, m.body
FROM mailbox m JOIN mailbox t ON t.UserID = m.UserID AND t.Type = 'time' AND t.MailID = m.MailID WHERE m.Type = 'mail';
ANALYZE TABLE mailbox, mail;
UPDATE mail SET folder = 'bills', is_read = TRUE WHERE user = 'anna' AND id = 2;
SELECT sent, title FROM mail WHERE user = 'anna' AND folder = 'inbox' ORDER BY sent DESC LIMIT 10;
SELECT COUNT(*) AS unread FROM mail WHERE user = 'anna' AND is_read = FALSE;
EXPLAIN FORMAT=TREE SELECT sent, title FROM mail WHERE user = 'anna' AND folder = 'inbox' ORDER BY sent DESC LIMIT 10;
