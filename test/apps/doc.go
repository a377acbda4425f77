// Command apps uses packaged applications with sqlots and with MariaDB, loads the
// schemas of others, and compares what came of them.
//
// # Model
//
// schemas.txt names packages of Debian and the files of theirs that make a database.
// They are downloaded with apt-get, unpacked into a cache, and loaded as an
// administrator does, by the mysql shell. Both servers are started on temporary
// directories and free ports.
//
// Compared are the errors of the files, the columns, keys, foreign keys and views as
// information_schema shows them, and all rows. Then the database is dumped by mysqldump,
// from each server into the other and into sqlots itself, and compared again. compare.go
// says what the two servers show in different forms.
//
// The scripts in the folder sites use applications over HTTP and by their tools, with
// each server; what they print is compared.
//
// known.txt lists the differences that stay, each with its reason.
//
//	go run ./test/apps
//	go run ./test/apps -only cacti
//
// It needs Debian's packages mariadb-server, default-mysql-client, php-cli, php-mysql,
// php-mbstring, php-xml, php-intl, wordpress, mediawiki, phpmyadmin, adminer, redmine,
// redmine-mysql, puma, roundcube-core, roundcube-mysql, dovecot-imapd, pdns-server,
// pdns-backend-mysql, bind9-dnsutils, freeradius, freeradius-mysql and freeradius-utils,
// installed without recommended packages; their own set-up is not used. The suites and
// the accounts need percona-toolkit, python3-pytest, python3-pymysql, python3-mysqldb,
// python3-sqlalchemy and python3-django.
//
// # Invariants
//
//	I1  A difference that known.txt does not list is a failure.
//	I2  An entry of known.txt that is no difference any more is one too.
package main
