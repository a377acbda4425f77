#!/bin/bash
# The tests of PHP's mysqli and PDO.
. "$(dirname "$0")/common.sh"
version=8.2.30
source="$CACHE/php-$version"
if [ ! -d "$source" ]; then
    curl -sf "http://deb.debian.org/debian/pool/main/p/php8.2/php8.2_$version.orig.tar.xz" | tar -xJ -C "$CACHE"
fi
need "$source/ext/mysqli"
mkdir -p "$DIR/php/ext"
cp -r "$source/run-tests.php" "$DIR/php/"
cp -r "$source/ext/mysqli" "$source/ext/pdo_mysql" "$source/ext/pdo" "$DIR/php/ext/"
cd "$DIR/php" || exit
sql -e "CREATE DATABASE test"
export MYSQL_TEST_HOST=127.0.0.1 MYSQL_TEST_PORT=$PORT MYSQL_TEST_USER=root MYSQL_TEST_PASSWD= MYSQL_TEST_DB=test
export PDO_MYSQL_TEST_DSN="mysql:host=127.0.0.1;port=$PORT;dbname=test" PDO_MYSQL_TEST_USER=root PDO_MYSQL_TEST_PASS= PDO_MYSQL_TEST_HOST=127.0.0.1 PDO_MYSQL_TEST_PORT=$PORT PDO_MYSQL_TEST_DB=test
export NO_INTERACTION=1 TEST_PHP_EXECUTABLE=/usr/bin/php
php run-tests.php -q --offline --set-timeout 20 -n -d extension=mysqlnd -d extension=mysqli -d extension=pdo -d extension=pdo_mysql -d extension=phar ext/mysqli/tests ext/pdo_mysql/tests 2>/dev/null |
    sed -n 's/.*PASS.*\[ext\/\(.*\)\.phpt\].*/passes \1/p' | sort
