-- Files by path and by their hashes. Run it in this folder:
--   sqlots sql < files.sql
DROP DATABASE IF EXISTS example_files;
CREATE DATABASE example_files;
USE example_files;

-- Paths are compared byte by byte. An entry of an index has its own columns
-- and those of the primary key, so both indexes answer without the table.
CREATE TABLE files (
  FilePath VARCHAR(500) COLLATE utf8mb4_bin NOT NULL,
  MD5      CHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
  SHA1     CHAR(40) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (FilePath),
  KEY by_md5 (MD5),
  KEY by_sha1 (SHA1)
);
INSERT INTO files
SELECT path, MD5(content), SHA1(content) FROM (
  SELECT '/books/a.txt' AS path, 'hello' AS content
  UNION ALL SELECT '/books/b.txt', 'world'
  UNION ALL SELECT '/copies/a.txt', 'hello'
  UNION ALL SELECT '/copies/old/A.txt', 'hello'
  UNION ALL SELECT '/empty', ''
) f;
INSERT INTO files (FilePath) VALUES ('/unread');

-- Which files have this content?
SELECT FilePath FROM files WHERE MD5 = '5d41402abc4b2a76b9719d911017c592' ORDER BY FilePath;
SELECT FilePath FROM files WHERE SHA1 = '7c211433f02071597741e6ff5a8ea34789abbf43';
EXPLAIN FORMAT=TREE SELECT FilePath FROM files WHERE MD5 = '5d41402abc4b2a76b9719d911017c592' ORDER BY FilePath;

-- Which contents are there more than once?
SELECT MD5, COUNT(*) AS files, MIN(FilePath) AS first FROM files WHERE MD5 IS NOT NULL GROUP BY MD5 HAVING files > 1;

-- A folder is a range of the key.
SELECT FilePath FROM files WHERE FilePath LIKE '/copies/%';
EXPLAIN FORMAT=TREE SELECT FilePath FROM files WHERE FilePath LIKE '/copies/%';

-- An index that is never stale: a file that changed is found by its new hash at once.
UPDATE files SET MD5 = MD5('hello'), SHA1 = SHA1('hello') WHERE FilePath = '/unread';
SELECT COUNT(*) FROM files WHERE MD5 = MD5('hello');
