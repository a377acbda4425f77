#!/usr/bin/env bash
# Tries sqlots with everyday clients, as a new user would.
#
#   test/clients/run.sh [--client NAME]… [--server HOST:PORT] [--other HOST:PORT]
#
# Without --server a sqlots is built and started on a free port. --other names a
# MariaDB: dumps are then restored in both directions. A test whose runtime is
# not at hand says that it is skipped. The exit code is 1 when one failed.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
all="shell dump go gorm mysql2 mysql-npm sequelize knex typeorm pymysql mysqlclient sqlalchemy sqlalchemy-mysqlclient alembic pdo mysqli perl jdbc"
chosen= server=
while [ $# -gt 0 ]; do
	case $1 in
	--client) chosen="$chosen ${2:?}" ;;
	--server) server=${2:?} ;;
	--other) export OTHER_HOST=${2%:*} OTHER_PORT=${2##*:} ;;
	*)
		sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
		echo "Clients: $all"
		exit 2
		;;
	esac
	shift 2
done

work=$(mktemp -d)
pid=
finish() {
	[ -z "$pid" ] || { kill "$pid"; wait "$pid" 2>/dev/null; }
	rm -rf "$work"
}
trap finish EXIT

if [ -z "$server" ]; then
	command -v go >/dev/null || { echo "Go is needed to build sqlots"; exit 1; }
	(cd "$here/../.." && CGO_ENABLED=0 go build -o "$work/sqlots" ./cmd/sqlots) || exit 1
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' 2>/dev/null || echo 14306)
	mkdir "$work/files"
	chmod 777 "$work/files"
	"$work/sqlots" serve --data "$work/data" --listen "127.0.0.1:$port" --secure-file-priv "$work/files" --memory "${MEMORY:-512MiB}" >"$work/log" 2>&1 &
	pid=$!
	export SECURE_DIR=$work/files
	server=127.0.0.1:$port
	for _ in $(seq 100); do
		grep -q msg=ready "$work/log" && break
		sleep 0.1
	done
fi
export DB_HOST=${server%:*} DB_PORT=${server##*:} DB_USER=root DB_PASSWORD=

# sql runs statements on the server, with the client that is always there.
sql() {
	if [ -x "$work/sqlots" ]; then
		"$work/sqlots" sql --host "$DB_HOST" --port "$DB_PORT" -e "$1"
	else
		$(command -v mysql || command -v mariadb) --host "$DB_HOST" --port "$DB_PORT" --user root -e "$1"
	fi
}

skip() {
	echo "skipped: $1"
	return 77
}

# node runs a script of the folder node, with its packages installed there.
node_test() {
	command -v node >/dev/null && command -v npm >/dev/null || { skip "no node and npm"; return; }
	cd "$here/node" || return
	[ -d node_modules ] || npm install --ignore-scripts --no-audit --no-fund --silent || { skip "npm could not install the packages"; return; }
	node "$1.js"
}

python_test() {
	local python
	for python in python3 /usr/bin/python3; do
		command -v "$python" >/dev/null && "$python" -c "import $2" 2>/dev/null && break
		python=
	done
	[ -n "$python" ] || { skip "no Python with $2"; return; }
	"$python" -B "$here/python/$1.py"
}

go_test() {
	command -v go >/dev/null || { skip "no Go"; return; }
	DSN="root@tcp($DB_HOST:$DB_PORT)/$DB_NAME?parseTime=true&charset=utf8mb4" go test -C "$here/gorm" -count=1 "$@" .
}

jdbc_test() {
	command -v java >/dev/null && command -v javac >/dev/null || { skip "no java and javac"; return; }
	local jar=${JDBC_JAR:-/usr/share/java/mariadb-java-client.jar}
	[ -f "$jar" ] || { skip "no $jar (Debian: libmariadb-java)"; return; }
	javac -d "$work/classes" "$here/jdbc/Main.java" && java -cp "$work/classes:$jar" Main
}

php_test() {
	command -v php >/dev/null || { skip "no php"; return; }
	php "$here/php/$1.php"
}

client() {
	case $1 in
	shell | dump) bash "$here/shell/$1.sh" ;;
	go) go_test -run TestDatabaseSQL ;;
	gorm) go_test -skip TestDatabaseSQL ;;
	mysql2 | sequelize | typeorm) node_test "$1" ;;
	knex) node_test knex ;;
	mysql-npm) # an old driver, which knows mysql_native_password only
		sql "CREATE USER IF NOT EXISTS it_native@'%' IDENTIFIED WITH mysql_native_password BY 'secret'; GRANT ALL ON *.* TO it_native@'%'" >/dev/null
		DB_USER=it_native DB_PASSWORD=secret KNEX_CLIENT=mysql node_test knex
		;;
	pymysql) python_test pymysql_basic pymysql ;;
	mysqlclient) DRIVER=mysqldb python_test pymysql_basic MySQLdb ;;
	sqlalchemy) python_test sqlalchemy_orm sqlalchemy,pymysql ;;
	sqlalchemy-mysqlclient) DRIVER=mysqldb python_test sqlalchemy_orm sqlalchemy,MySQLdb ;;
	alembic) python_test alembic_migrations alembic,pymysql ;;
	pdo | mysqli) php_test "$1" ;;
	perl) if command -v perl >/dev/null; then perl "$here/perl/dbi.pl"; else skip "no perl"; fi ;;
	jdbc) jdbc_test ;;
	*)
		echo "no such client; there are: $all"
		return 1
		;;
	esac
}

failed= skipped=
for c in ${chosen:-$all}; do
	export DB_NAME="it_${c//-/_}"
	sql "DROP DATABASE IF EXISTS $DB_NAME; CREATE DATABASE $DB_NAME" >/dev/null || exit 1
	(client "$c") >"$work/out" 2>&1
	case $? in
	0) printf '%-24s passed\n' "$c" ;;
	77)
		printf '%-24s %s\n' "$c" "$(grep skipped "$work/out" | tail -n 1)"
		skipped="$skipped $c"
		;;
	*)
		printf '%-24s FAILED\n' "$c"
		cut -c1-500 "$work/out" | grep -v '^ok' | sed 's/^/    /'
		failed="$failed $c"
		;;
	esac
	sql "DROP DATABASE IF EXISTS $DB_NAME" >/dev/null
done
[ -z "$skipped" ] || echo "skipped:$skipped"
if [ -n "$failed" ]; then
	echo "failed:$failed"
	[ ! -s "$work/log" ] || grep -E 'level=(ERROR)' "$work/log" | cut -c1-300
	exit 1
fi
