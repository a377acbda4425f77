#!/usr/bin/env bash
# mysqldump (mariadb-dump) and restore: sqlots to itself, and, when OTHER_PORT
# names a MariaDB, in both directions. A restore is right when the tables and
# views have the same rows, and a dump of it is the same text.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
client=$(command -v mysql || command -v mariadb) || { echo "skipped: no mysql or mariadb client"; exit 77; }
dump=$(command -v mysqldump || command -v mariadb-dump) || { echo "skipped: no mysqldump or mariadb-dump"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# sql and dumped work on the server "sqlots" or "other".
address() {
	if [ "$1" = other ]; then
		echo --host "${OTHER_HOST:-127.0.0.1}" --port "$OTHER_PORT" --user root
	else
		echo --host "$DB_HOST" --port "$DB_PORT" --user "$DB_USER"
	fi
}

sql() {
	local server=$1
	shift
	# shellcheck disable=SC2046
	"$client" $(address "$server") --default-character-set utf8mb4 --binary-mode "$@"
}

dumped() {
	local server=$1
	shift
	# shellcheck disable=SC2046
	"$dump" $(address "$server") --default-character-set utf8mb4 --skip-dump-date --skip-comments "$@"
}

fresh() { sql "$1" -e "DROP DATABASE IF EXISTS $2; CREATE DATABASE $2 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"; }

# content prints the rows of all tables and views, in an order of their own.
content() {
	local table
	for table in numbers texts times parent child aaa derived 'no key' empty many dear_things above a_view dated ranked sub; do
		echo "-- $table"
		sql "$1" "$2" --batch --binary-as-hex -e "SELECT * FROM \`$table\`" | sed -e 's/{"a":/{"a" :/' | sort
	done
}

check() {
	local what=$1 want=$2 got=$3
	if cmp -s "$want" "$got"; then
		echo "ok    $what"
	else
		echo "FAIL  $what"
		diff "$want" "$got" | cut -c1-300 | head -20
		failed=1
	fi
}

# round dumps database $2 of server $1 with options into server $3 and compares.
round() {
	local from=$1 to=$2 name=$3
	shift 3
	dumped "$from" "$@" "it_$from" >"$work/dump.sql"
	if [ "$to" = other ]; then
		# MariaDB knows no 0900 collations, and root is another account there.
		sed -i -e 's/utf8mb4_0900_ai_ci/utf8mb4_general_ci/g' -e 's/DEFINER=`root`@`%`/DEFINER=CURRENT_USER/' "$work/dump.sql"
	fi
	fresh "$to" it_copy
	if ! sql "$to" it_copy <"$work/dump.sql"; then
		echo "FAIL  $name: the restore"
		failed=1
		return
	fi
	content "$to" it_copy >"$work/got"
	check "$name: rows" "$work/$from" "$work/got"
	if [ "$from" = "$to" ]; then
		dumped "$to" "$@" it_copy | sed 's/`it_copy`/`it_'"$from"'`/g' >"$work/again.sql"
		check "$name: the same dump again" "$work/dump.sql" "$work/again.sql"
	fi
}

servers=sqlots
[ -z "${OTHER_PORT:-}" ] || servers="sqlots other"
for s in $servers; do
	fresh "$s" "it_$s"
	sql "$s" "it_$s" <everything.sql
	content "$s" "it_$s" >"$work/$s"
done
[ -z "${OTHER_PORT:-}" ] || check "both servers have the same rows" "$work/other" "$work/sqlots"

round sqlots sqlots "to itself"
round sqlots sqlots "to itself, in one transaction" --single-transaction --quick --hex-blob --order-by-primary --no-autocommit
round sqlots sqlots "to itself, with names, one row a statement" --complete-insert --skip-extended-insert --skip-add-locks
round sqlots sqlots "to itself, with REPLACE" --replace --skip-quote-names --compatible=ansi 2>/dev/null || true
if [ -n "${OTHER_PORT:-}" ]; then
	round other sqlots "from MariaDB"
	round sqlots other "to MariaDB"
else
	echo "skipped: the directions from and to MariaDB (give --other HOST:PORT)"
fi

# Structure and rows apart, one table, a condition, databases, XML.
dumped sqlots --no-data it_sqlots >"$work/s.sql"
dumped sqlots --no-create-info --ignore-table=it_sqlots.numbers it_sqlots >"$work/r.sql"
dumped sqlots --no-create-info --where='id > 1' it_sqlots numbers >"$work/w.sql"
fresh sqlots it_copy
for f in s r w; do sql sqlots it_copy <"$work/$f.sql"; done
sql sqlots it_copy --batch --skip-column-names -e 'SELECT COUNT(*) FROM numbers UNION ALL SELECT COUNT(*) FROM many' >"$work/got"
printf '3\n900\n' >"$work/want"
check "structure, rows and a condition" "$work/want" "$work/got"
# The database "mysql" of --all-databases does not load into another server.
dumped sqlots --databases it_sqlots --routines --events --triggers --add-drop-database >"$work/all.sql"
sql sqlots <"$work/all.sql"
content sqlots it_sqlots >"$work/got"
check "whole databases" "$work/sqlots" "$work/got"
dumped sqlots --xml it_sqlots derived >"$work/x.xml"
grep -q '<field name="total">29.97</field>' "$work/x.xml" || { echo "FAIL  XML"; failed=1; }
# Files of rows, which LOAD DATA reads.
if [ -n "${SECURE_DIR:-}" ]; then
	mkdir -p "$SECURE_DIR/tab"
	chmod 777 "$SECURE_DIR/tab"
	dumped sqlots --tab="$SECURE_DIR/tab" it_sqlots numbers times many >/dev/null
	fresh sqlots it_copy
	for t in numbers times many; do
		sql sqlots it_copy <"$SECURE_DIR/tab/$t.sql"
		sql sqlots it_copy -e "LOAD DATA INFILE '$SECURE_DIR/tab/$t.txt' INTO TABLE $t CHARACTER SET binary"
		sql sqlots it_copy --batch -e "SELECT * FROM $t" | sort >"$work/got"
		sql sqlots it_sqlots --batch -e "SELECT * FROM $t" | sort >"$work/want"
		check "files of $t" "$work/want" "$work/got"
	done
fi
for s in $servers; do sql "$s" -e "DROP DATABASE IF EXISTS it_copy; DROP DATABASE it_$s"; done
exit $failed
