-- Search in messages. Run it in this folder:
--   sqlots sql < messages.sql
DROP DATABASE IF EXISTS example_search_messages;
CREATE DATABASE example_search_messages;
USE example_search_messages;

CREATE TABLE im_timeline_store_table (
  timeline_id VARCHAR(64) COLLATE utf8mb4_bin,
  sequence_id BIGINT,
  sender      VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
  send_time   DATETIME NOT NULL,
  text        TEXT,
  PRIMARY KEY (timeline_id, sequence_id),
  SEARCH INDEX im_message_index (timeline_id, sequence_id, sender, send_time, text TEXT)
);
CREATE TABLE im_timeline_meta_table (
  timeline_id VARCHAR(64) COLLATE utf8mb4_bin PRIMARY KEY,
  type        VARCHAR(10) NOT NULL,
  group_name  VARCHAR(100),
  SEARCH INDEX im_group_index (type, group_name TEXT)
);
INSERT INTO im_timeline_meta_table VALUES ('group_1', 'GROUP', '表格存储群1'), ('group_2', 'GROUP', '表格存储群2'), ('group_3', 'GROUP', '表格存储群3'), ('group_4', 'GROUP', '表格存储群4'),
  ('group_5', 'GROUP', '表格存储群5'), ('single_2', 'SINGLE', NULL), ('single_3', 'SINGLE', NULL), ('single_4', 'SINGLE', NULL);
INSERT INTO im_timeline_store_table VALUES
  ('single_2', 1, 'user_2', '2020-01-01 08:00:00', '我们是好朋友了2'), ('single_3', 2, 'user_3', '2020-01-01 08:00:01', '我们是好朋友了3'), ('single_4', 3, 'user_4', '2020-01-01 08:00:02', '我们是好朋友了4'),
  ('group_1', 4, 'user_1', '2020-01-01 09:00:00', '今天谁使用表格存储了'), ('group_1', 5, 'user_2', '2020-01-01 09:00:10', '表格+1'), ('group_1', 6, 'user_3', '2020-01-01 09:00:20', '表格+1'),
  ('group_1', 7, 'user_4', '2020-01-02 09:00:30', '表格+1');

-- In one conversation, the newest first.
SELECT sequence_id, sender, text FROM im_timeline_store_table WHERE timeline_id = 'group_1' AND MATCH (text) AGAINST ('"表格"' IN BOOLEAN MODE) ORDER BY sequence_id DESC;

-- In all of mine, of one day, with what was found in brackets.
SELECT timeline_id, sender, HIGHLIGHT(text, '[', ']') AS shown FROM im_timeline_store_table
WHERE timeline_id IN ('group_1', 'single_2', 'single_3', 'single_4') AND send_time < '2020-01-02' AND TEXT_MATCH_PHRASE(text, '朋友') ORDER BY timeline_id;
EXPLAIN FORMAT=TREE SELECT text FROM im_timeline_store_table FORCE INDEX (im_message_index) WHERE timeline_id = 'group_1' AND DATE(send_time) = '2020-01-01' AND TEXT_MATCH(text, '表格');

-- How often by whom; the last of each conversation that has it.
SELECT sender, COUNT(*) AS n FROM im_timeline_store_table WHERE TEXT_MATCH(text, '表格 朋友', 'or', 2) GROUP BY sender ORDER BY sender;
SELECT timeline_id, sequence_id, text FROM (SELECT timeline_id, sequence_id, text, ROW_NUMBER() OVER (PARTITION BY timeline_id ORDER BY sequence_id DESC) AS n
  FROM im_timeline_store_table WHERE MATCH (text) AGAINST ('表 朋')) x WHERE n = 1 ORDER BY timeline_id;

-- A message is found by the one who wrote it before it is there for others.
BEGIN;
INSERT INTO im_timeline_store_table VALUES ('group_1', 8, 'user_1', '2020-01-02 10:00:00', '表格真好用');
SELECT COUNT(*) AS found FROM im_timeline_store_table WHERE timeline_id = 'group_1' AND TEXT_MATCH_PHRASE(text, '表格');
ROLLBACK;
SELECT COUNT(*) AS found FROM im_timeline_store_table WHERE timeline_id = 'group_1' AND TEXT_MATCH_PHRASE(text, '表格');

-- A group by its name.
SELECT timeline_id, group_name FROM im_timeline_meta_table WHERE type = 'GROUP' AND MATCH (group_name) AGAINST ('"群2"' IN BOOLEAN MODE);
