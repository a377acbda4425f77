// Command apps loads the schemas of packaged applications into sqlots and into
// MariaDB, and compares what came of them.
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
// known.txt lists the differences that stay, each with its reason.
//
//	go run ./test/apps
//	go run ./test/apps -only cacti
//
// It needs Debian's packages mariadb-server and default-mysql-client.
//
// # Invariants
//
//	I1  A difference that known.txt does not list is a failure.
//	I2  An entry of known.txt that is no difference any more is one too.
package main
