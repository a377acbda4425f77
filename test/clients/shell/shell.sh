#!/usr/bin/env bash
# The mysql or mariadb shell: what people type, and its batch modes.
set -uo pipefail
client=$(command -v mysql || command -v mariadb) || { echo "skipped: no mysql or mariadb client"; exit 77; }
failed=0
sql() { "$client" --host "$DB_HOST" --port "$DB_PORT" --user "$DB_USER" --default-character-set utf8mb4 "$DB_NAME" "$@"; }

# is NAME WANT GOT
is() {
	if [ "$2" = "$3" ]; then
		echo "ok    $1"
	else
		echo "FAIL  $1: got $3, want $2"
		failed=1
	fi
}

# has NAME PATTERN TEXT
has() {
	if grep -qE -- "$2" <<<"$3"; then
		echo "ok    $1"
	else
		echo "FAIL  $1: no $2 in: $3"
		failed=1
	fi
}

sql -e "DROP TABLE IF EXISTS t; CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20), n DECIMAL(8,2)); INSERT INTO t (v, n) VALUES ('a', 1.5), ('ž', NULL), ('tab\\there', -2)"
is "batch" "$(printf 'id\tv\tn\n1\ta\t1.50\n2\tž\tNULL')" "$(sql --batch -e 'SELECT * FROM t WHERE id < 3')"
is "escapes in batch" 'tab\there' "$(sql --batch --skip-column-names -e 'SELECT v FROM t WHERE id = 3')"
is "raw" "$(printf 'tab\there')" "$(sql --batch --raw --skip-column-names -e 'SELECT v FROM t WHERE id = 3')"
has "table" '^\| +1 \| a +\| +1.50 \|' "$(sql --table -e 'SELECT * FROM t')"
has "vertical" '^ *n: 1.50' "$(sql -e 'SELECT * FROM t LIMIT 1\G')"
has "HTML" '<TD>a</TD>' "$(sql --html -e 'SELECT * FROM t LIMIT 1')"
has "XML" '<field name="v">a</field>' "$(sql --xml -e 'SELECT * FROM t LIMIT 1')"
has "verbose" 'row in set|1 row' "$(sql -vvv -e 'SELECT * FROM t LIMIT 1')"
has "changed rows" 'Rows matched: 2  Changed: 1  Warnings: 0' "$(sql -vvv -e "UPDATE t SET v = 'a' WHERE id < 3")"
has "status" 'Server version:' "$(sql -e status)"
has "warnings" 'Warning \(Code 1264\)' "$(sql --show-warnings -vvv -e "SET sql_mode = ''; INSERT INTO t (n) VALUES (1e9)")"
has "error" 'ERROR 1146 \(42S02\) at line 2: Table .*nowhere.* doesn.t exist' "$(printf 'SELECT 1;\nSELECT * FROM nowhere;\nSELECT 2;\n' | sql 2>&1)"
has "--force goes on" '^2$' "$(printf 'SELECT 1;\nSELECT * FROM nowhere;\nSELECT 2;\n' | sql --force 2>&1)"
has "column types" 'PRI_KEY AUTO_INCREMENT' "$(sql --column-type-info -vvv -e 'SELECT id FROM t LIMIT 1' | tr '\n' ' ')"
has "delimiter and comments" '^7$' "$(printf 'DELIMITER //\n-- a comment\n/* another */ SELECT 7 //\nDELIMITER ;\n' | sql)"
has "source" '^42$' "$(echo 'SELECT 42;' >/tmp/it_source.$$; sql -e "source /tmp/it_source.$$"; rm -f /tmp/it_source.$$)"
has "safe updates" 'ERROR 1175' "$(sql --safe-updates -e 'DELETE FROM t' 2>&1)"
has "completion reads the tables" '^7$' "$(echo 'SELECT 7' | sql --auto-rehash --skip-column-names)"
printf '10\tfile\t3\n11\t\\N\t4\n' >/tmp/it_load.$$
sql --local-infile=1 -e "LOAD DATA LOCAL INFILE '/tmp/it_load.$$' INTO TABLE t"
rm -f /tmp/it_load.$$
is "LOAD DATA LOCAL" "$(printf '10\tfile\n11\tNULL')" "$(sql --batch --skip-column-names -e 'SELECT id, v FROM t WHERE id >= 10')"
for q in 'SHOW DATABASES' 'SHOW TABLES' 'SHOW FULL TABLES' 'SHOW CREATE TABLE t' 'DESC t' 'SHOW FULL COLUMNS FROM t' 'SHOW INDEX FROM t' 'SHOW TABLE STATUS' 'SHOW VARIABLES' 'SHOW GLOBAL STATUS' 'SHOW PROCESSLIST' 'SHOW ENGINES' \
	'SHOW CHARACTER SET' 'SHOW COLLATION' 'SHOW GRANTS' 'SHOW PLUGINS' 'SHOW PRIVILEGES' 'EXPLAIN SELECT * FROM t WHERE id = 1' 'SELECT VERSION(), USER(), DATABASE(), NOW()'; do
	out=$(sql --batch --skip-column-names -e "$q" 2>&1) || { echo "FAIL  $q: $out"; failed=1; }
	[ -n "$out" ] || { echo "FAIL  $q: nothing"; failed=1; }
done
if import=$(command -v mysqlimport || command -v mariadb-import); then
	printf '20,"q, x",1\n21,"y",2\n' >/tmp/t.csv
	has "mysqlimport" 'Records: 2' "$("$import" --host "$DB_HOST" --port "$DB_PORT" --user "$DB_USER" --local --fields-terminated-by=, --fields-enclosed-by='"' "$DB_NAME" /tmp/t.csv)"
	rm -f /tmp/t.csv
fi
if show=$(command -v mysqlshow || command -v mariadb-show); then
	has "mysqlshow" '\| t ' "$("$show" --host "$DB_HOST" --port "$DB_PORT" --user "$DB_USER" "$DB_NAME")"
	has "mysqlshow --keys" 'PRIMARY' "$("$show" --host "$DB_HOST" --port "$DB_PORT" --user "$DB_USER" --keys "$DB_NAME" t)"
fi
if check=$(command -v mysqlcheck || command -v mariadb-check); then
	has "mysqlcheck" 't +OK' "$("$check" --host "$DB_HOST" --port "$DB_PORT" --user "$DB_USER" "$DB_NAME")"
	has "mysqlcheck --analyze" 't +OK' "$("$check" --host "$DB_HOST" --port "$DB_PORT" --user "$DB_USER" --analyze "$DB_NAME")"
fi
if admin=$(command -v mysqladmin || command -v mariadb-admin); then
	has "mysqladmin" 'alive' "$("$admin" --host "$DB_HOST" --port "$DB_PORT" --user "$DB_USER" ping)"
	has "mysqladmin status" 'Uptime' "$("$admin" --host "$DB_HOST" --port "$DB_PORT" --user "$DB_USER" status)"
	has "mysqladmin processlist" 'Id' "$("$admin" --host "$DB_HOST" --port "$DB_PORT" --user "$DB_USER" processlist)"
fi
exit $failed
