-- Messages: timelines, and copies of them for each reader. Run it in this folder:
--   sqlots sql < im.sql
DROP DATABASE IF EXISTS example_im;
CREATE DATABASE example_im;
USE example_im;

-- Users and conversations have whatever attributes they have.
CREATE TABLE im_user_table (
  user_id   VARCHAR(64) COLLATE utf8mb4_bin PRIMARY KEY,
  user_name VARCHAR(64) NOT NULL
) SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}';
CREATE TABLE im_timeline_meta_table (
  timeline_id VARCHAR(64) COLLATE utf8mb4_bin PRIMARY KEY,
  type        VARCHAR(10) NOT NULL,
  group_name  VARCHAR(100),
  create_time DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3)
) SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}';

-- A friendship is two rows. A membership is one, and its index answers the
-- question from the other side, in the same transaction.
CREATE TABLE im_user_relation_table (
  main_user   VARCHAR(64) COLLATE utf8mb4_bin,
  sub_user    VARCHAR(64) COLLATE utf8mb4_bin,
  timeline_id VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (main_user, sub_user)
);
CREATE TABLE im_group_relation_table (
  group_id  VARCHAR(64) COLLATE utf8mb4_bin,
  user_id   VARCHAR(64) COLLATE utf8mb4_bin,
  join_time DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (group_id, user_id),
  KEY im_group_relation_global_index (user_id, group_id)
);

-- The store keeps each message once, for ever, and tells what happens to it;
-- the sync table has it once for each reader and forgets it after a week.
CREATE TABLE im_timeline_store_table (
  timeline_id VARCHAR(64) COLLATE utf8mb4_bin,
  sequence_id BIGINT AUTO_INCREMENT,
  message_id  CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  sender      VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
  send_time   DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
  type        VARCHAR(10) NOT NULL,
  text        TEXT,
  PRIMARY KEY (timeline_id, sequence_id),
  UNIQUE KEY (message_id)
) SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true, "stream":{"retention":"24h"}}';
CREATE TABLE im_timeline_sync_table (
  timeline_id  VARCHAR(64) COLLATE utf8mb4_bin,
  sequence_id  BIGINT AUTO_INCREMENT,
  conversation VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
  sender       VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
  send_time    DATETIME(3) NOT NULL,
  text         TEXT,
  PRIMARY KEY (timeline_id, sequence_id)
) TTL = send_time + INTERVAL 7 DAY;
-- How far each reader has read. Its lock makes one reader of one queue.
CREATE TABLE im_checkpoint_table (
  timeline_id VARCHAR(64) COLLATE utf8mb4_bin PRIMARY KEY,
  sequence_id BIGINT NOT NULL DEFAULT 0
);

-- Ten users, five groups of the first three, four friends of the first.
INSERT INTO im_user_table (user_id, user_name, sexuality)
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 10)
SELECT CONCAT('user_', i), CONCAT('名字', i), IF(i % 2, 'MALE', 'FEMALE') FROM n;
INSERT INTO im_timeline_meta_table (timeline_id, type, group_name)
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5)
SELECT CONCAT('group_', i), 'GROUP', CONCAT('表格存储群', i) FROM n;
INSERT INTO im_group_relation_table (group_id, user_id)
SELECT m.timeline_id, u.user_id FROM im_timeline_meta_table m, im_user_table u WHERE u.user_id IN ('user_1', 'user_2', 'user_3');
INSERT INTO im_checkpoint_table (timeline_id) SELECT user_id FROM im_user_table;

START TRANSACTION;
INSERT INTO im_timeline_meta_table (timeline_id, type) VALUES ('single_2', 'SINGLE'), ('single_3', 'SINGLE'), ('single_4', 'SINGLE'), ('single_5', 'SINGLE');
INSERT INTO im_user_relation_table VALUES
  ('user_1', 'user_2', 'single_2'), ('user_2', 'user_1', 'single_2'),
  ('user_1', 'user_3', 'single_3'), ('user_3', 'user_1', 'single_3'),
  ('user_1', 'user_4', 'single_4'), ('user_4', 'user_1', 'single_4'),
  ('user_1', 'user_5', 'single_5'), ('user_5', 'user_1', 'single_5');
COMMIT;

SELECT user_id, user_name, sexuality FROM im_user_table WHERE user_id IN ('user_1', 'user_2');
SELECT user_id FROM im_group_relation_table WHERE group_id = 'group_1';

-- The end of a friendship takes both rows, or none.
START TRANSACTION;
DELETE FROM im_user_relation_table WHERE (main_user, sub_user) IN (('user_1', 'user_5'), ('user_5', 'user_1'));
COMMIT;
-- The fourth user joins a group.
INSERT INTO im_group_relation_table (group_id, user_id) VALUES ('group_1', 'user_4');

SELECT sub_user, timeline_id FROM im_user_relation_table WHERE main_user = 'user_1';
SELECT sub_user, timeline_id FROM im_user_relation_table WHERE main_user = 'user_2';
SELECT user_id FROM im_group_relation_table WHERE group_id = 'group_1';
SELECT group_id FROM im_group_relation_table WHERE user_id = 'user_1';
SELECT group_id FROM im_group_relation_table WHERE user_id = 'user_4';
EXPLAIN FORMAT=TREE SELECT group_id FROM im_group_relation_table WHERE user_id = 'user_1';

-- Four users write to the first. Each message goes to the store and, in the
-- same transaction, to the reader's timeline. Without a friendship there is no
-- conversation, and nothing is written.
--
-- Numbers count within a timeline and become visible in their order: whoever
-- writes to a timeline waits for the transaction that wrote to it before. A
-- reader who has seen 6 never misses a 5 that is committed later.
START TRANSACTION;
INSERT INTO im_timeline_store_table (timeline_id, message_id, sender, type, text)
SELECT timeline_id, UUID(), main_user, 'SINGLE', '我们是好朋友了2' FROM im_user_relation_table WHERE main_user = 'user_2' AND sub_user = 'user_1';
INSERT INTO im_timeline_sync_table (timeline_id, conversation, sender, send_time, text)
SELECT sub_user, main_user, main_user, UTC_TIMESTAMP(3), '我们是好朋友了2' FROM im_user_relation_table WHERE main_user = 'user_2' AND sub_user = 'user_1';
COMMIT;
START TRANSACTION;
INSERT INTO im_timeline_store_table (timeline_id, message_id, sender, type, text)
SELECT timeline_id, UUID(), main_user, 'SINGLE', '我们是好朋友了3' FROM im_user_relation_table WHERE main_user = 'user_3' AND sub_user = 'user_1';
INSERT INTO im_timeline_sync_table (timeline_id, conversation, sender, send_time, text)
SELECT sub_user, main_user, main_user, UTC_TIMESTAMP(3), '我们是好朋友了3' FROM im_user_relation_table WHERE main_user = 'user_3' AND sub_user = 'user_1';
COMMIT;
START TRANSACTION;
INSERT INTO im_timeline_store_table (timeline_id, message_id, sender, type, text)
SELECT timeline_id, UUID(), main_user, 'SINGLE', '我们是好朋友了4' FROM im_user_relation_table WHERE main_user = 'user_4' AND sub_user = 'user_1';
INSERT INTO im_timeline_sync_table (timeline_id, conversation, sender, send_time, text)
SELECT sub_user, main_user, main_user, UTC_TIMESTAMP(3), '我们是好朋友了4' FROM im_user_relation_table WHERE main_user = 'user_4' AND sub_user = 'user_1';
COMMIT;
START TRANSACTION;
INSERT INTO im_timeline_store_table (timeline_id, message_id, sender, type, text)
SELECT timeline_id, UUID(), main_user, 'SINGLE', '我们是好朋友了5' FROM im_user_relation_table WHERE main_user = 'user_5' AND sub_user = 'user_1';
INSERT INTO im_timeline_sync_table (timeline_id, conversation, sender, send_time, text)
SELECT sub_user, main_user, main_user, UTC_TIMESTAMP(3), '我们是好朋友了5' FROM im_user_relation_table WHERE main_user = 'user_5' AND sub_user = 'user_1';
COMMIT;
SELECT COUNT(*) FROM im_timeline_store_table;

-- A group: the writer stores one row and is done. A consumer of the store's
-- change log gives the message to the members. What it writes and how far it
-- has read are one transaction, so that nothing is given twice or forgotten.
CALL sqlots.stream_consumer('fanout', 'example_im.im_timeline_store_table');
INSERT INTO im_timeline_store_table (timeline_id, message_id, sender, type, text) VALUES ('group_1', UUID(), 'user_1', 'GROUP', '今天谁使用表格存储了');
INSERT INTO im_timeline_store_table (timeline_id, message_id, sender, type, text) VALUES ('group_1', UUID(), 'user_2', 'GROUP', '表格+1');
INSERT INTO im_timeline_store_table (timeline_id, message_id, sender, type, text) VALUES ('group_1', UUID(), 'user_3', 'GROUP', '表格+1');
INSERT INTO im_timeline_store_table (timeline_id, message_id, sender, type, text) VALUES ('group_1', UUID(), 'user_4', 'GROUP', '表格+1');

START TRANSACTION;
CREATE TEMPORARY TABLE batch (seq BIGINT UNSIGNED, ordinal BIGINT UNSIGNED, message JSON, PRIMARY KEY (seq, ordinal));
INSERT INTO batch SELECT seq, ordinal, after_image FROM stream('example_im.im_timeline_store_table', 'fanout') WHERE kind = 'insert' ORDER BY seq, ordinal LIMIT 100;
INSERT INTO im_timeline_sync_table (timeline_id, conversation, sender, send_time, text)
SELECT r.user_id, r.group_id, b.message->>'$.sender', b.message->>'$.send_time', b.message->>'$.text'
FROM batch b JOIN im_group_relation_table r ON r.group_id = b.message->>'$.timeline_id'
WHERE b.message->>'$.type' = 'GROUP' ORDER BY b.seq, b.ordinal, r.user_id;
SET @last = (SELECT MAX(seq) FROM batch);
CALL sqlots.stream_checkpoint('fanout', @last);
COMMIT;
DROP TEMPORARY TABLE batch;
SELECT COUNT(*) AS waiting FROM stream('example_im.im_timeline_store_table', 'fanout');

SELECT COUNT(*) FROM im_timeline_store_table;
SELECT timeline_id, COUNT(*) FROM im_timeline_sync_table GROUP BY timeline_id WITH ROLLUP;

-- What the first user has not read, by conversation.
SELECT s.conversation, COUNT(*) AS unread,
  (SELECT text FROM im_timeline_sync_table l WHERE l.timeline_id = 'user_1' AND l.sequence_id = MAX(s.sequence_id)) AS latest
FROM im_timeline_sync_table s WHERE s.timeline_id = 'user_1' AND s.sequence_id > 0 GROUP BY s.conversation ORDER BY MIN(s.sequence_id);

-- A reader: take the queue, read a page, do what is to be done, say how far.
START TRANSACTION;
SELECT sequence_id INTO @seen FROM im_checkpoint_table WHERE timeline_id = 'user_1' FOR UPDATE;
SELECT conversation, sender, text FROM im_timeline_sync_table
WHERE timeline_id = 'user_1' AND sequence_id > @seen ORDER BY sequence_id LIMIT 30;
UPDATE im_checkpoint_table SET sequence_id = (SELECT MAX(sequence_id) FROM (
  SELECT sequence_id FROM im_timeline_sync_table WHERE timeline_id = 'user_1' AND sequence_id > @seen ORDER BY sequence_id LIMIT 30) page)
WHERE timeline_id = 'user_1';
COMMIT;
SELECT COUNT(*) AS unread FROM im_timeline_sync_table s JOIN im_checkpoint_table c USING (timeline_id)
WHERE timeline_id = 'user_1' AND s.sequence_id > c.sequence_id;
EXPLAIN FORMAT=TREE SELECT conversation, text FROM im_timeline_sync_table
WHERE timeline_id = 'user_1' AND sequence_id > 1000 ORDER BY sequence_id LIMIT 30;

-- The last page of a conversation, backwards.
SELECT sender, text FROM im_timeline_store_table
WHERE timeline_id = 'group_1' AND sequence_id <= 9223372036854775807 ORDER BY sequence_id DESC LIMIT 30;

-- A message that comes twice is one message: its id is unique.
SET @id = UUID();
INSERT IGNORE INTO im_timeline_store_table (timeline_id, message_id, sender, type, text) VALUES ('group_2', @id, 'user_2', 'GROUP', '有人吗');
INSERT IGNORE INTO im_timeline_store_table (timeline_id, message_id, sender, type, text) VALUES ('group_2', @id, 'user_2', 'GROUP', '有人吗');
SELECT COUNT(*) FROM im_timeline_store_table WHERE timeline_id = 'group_2';
DELETE FROM im_timeline_store_table WHERE message_id = @id;

-- What is older than a week is gone from the queues, and still in the store.
INSERT INTO im_timeline_sync_table (timeline_id, conversation, sender, send_time, text)
VALUES ('user_9', 'user_10', 'user_10', UTC_TIMESTAMP(3) - INTERVAL 8 DAY, '旧'), ('user_9', 'user_10', 'user_10', UTC_TIMESTAMP(3) - INTERVAL 6 DAY, '新');
SELECT text FROM im_timeline_sync_table WHERE timeline_id = 'user_9';

-- Words in texts need a search index; until there is one, a conversation can be read through.
SELECT COUNT(*) FROM im_timeline_store_table WHERE timeline_id = 'group_1' AND text LIKE '%表格%';
SELECT timeline_id FROM im_timeline_meta_table WHERE type = 'GROUP' AND group_name LIKE '%群2%';
