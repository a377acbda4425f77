#!/bin/bash
# mysqldump and pt-show-grants, with fewer privileges than they need, and with those.
. "$(dirname "$0")/common.sh"
need_command mysqldump
need_command pt-show-grants
sql -e "CREATE DATABASE dumped COLLATE utf8mb4_general_ci; USE dumped; CREATE TABLE orders (id INT PRIMARY KEY AUTO_INCREMENT, total DECIMAL(10, 2), KEY (total));
CREATE TABLE items (id INT PRIMARY KEY, o INT, FOREIGN KEY (o) REFERENCES orders (id)); INSERT INTO orders VALUES (1, 9.5), (2, 3); INSERT INTO items VALUES (1, 1);
CREATE VIEW totals AS SELECT id, total FROM orders; CREATE DATABASE restored COLLATE utf8mb4_general_ci; CREATE USER backup IDENTIFIED BY 'secret-1', restore IDENTIFIED BY 'secret-2'"

# dump says which errors come, and how much is in the dump.
dump() {
    mysqldump --no-defaults -h127.0.0.1 -P"$PORT" -ubackup -psecret-1 --skip-dump-date "$@" 2>"$DIR/errors" >"$DIR/dump"
    echo "$* ends with $?: $(grep -c "^CREATE TABLE\|^INSERT" "$DIR/dump") statements"
    grep -v "^Warning" "$DIR/errors" | sed 's/table `dumped`\.`\(\w*\)`/table '"'\1'"'/;s/RELOAD or FLUSH_TABLES/RELOAD/;s/SUPER, REPLICATION CLIENT/BINLOG MONITOR/'
}
# What is granted adds up.
for grant in "USAGE ON *.*" "SELECT ON dumped.orders" "SELECT ON dumped.*" "SHOW VIEW ON dumped.*" "TRIGGER ON dumped.*" "LOCK TABLES ON dumped.*" "EVENT ON dumped.*" "PROCESS ON *.*" "RELOAD ON *.*"; do
    echo "--- $grant"
    sql -e "GRANT $grant TO backup"
    dump --no-tablespaces dumped
    dump --no-tablespaces --single-transaction dumped orders
    dump --no-tablespaces --single-transaction --databases dumped
    dump --no-tablespaces --single-transaction --triggers --routines --events dumped
    dump --no-tablespaces --lock-all-tables dumped
    dump --no-tablespaces --flush-logs dumped
done
dump --no-tablespaces --single-transaction dumped
dump dumped

# A restore. MariaDB demands no REFERENCES.
dump --no-tablespaces dumped orders items
restore() { mysql --no-defaults -h127.0.0.1 -P"$PORT" -urestore -psecret-2 -f restored <"$DIR/dump" 2>&1 | grep -a "^ERROR" | sed "s/ at line [0-9]*//;s/table \`restored\`\.\`\(\w*\)\`/table '\1'/" | sort -u; }
for grant in "CREATE, DROP, REFERENCES" "LOCK TABLES, SELECT" "INSERT" "ALTER"; do
    echo "--- restore: $grant"
    sql -e "GRANT $grant ON restored.* TO restore"
    restore
    sql -e "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'restored'"
done
sql -e "SELECT * FROM restored.orders"

# pt-show-grants: what it prints makes the same accounts again.
grants() { pt-show-grants --no-timestamp --host 127.0.0.1 --port "$PORT" --user reader --password secret-3 --only backup,restore,reader 2>&1 | grep -v "^-- Dumped"; }
sql -e "CREATE USER reader IDENTIFIED BY 'secret-3'; GRANT UPDATE (total), SELECT (id) ON dumped.orders TO restore WITH GRANT OPTION"
grants | grep -c GRANT
sql -e "GRANT SELECT ON mysql.* TO reader"
grants >"$DIR/grants"
grep -a "^GRANT.*dumped\|^GRANT.*restored" "$DIR/grants"
sql -e "DROP USER backup, restore"
grants | grep -c "dumped\|restored"
sql <"$DIR/grants"
grants | diff "$DIR/grants" - && echo "the same grants"
mysql --no-defaults -h127.0.0.1 -P"$PORT" -ubackup -psecret-1 -e "SELECT COUNT(*) FROM dumped.totals"
