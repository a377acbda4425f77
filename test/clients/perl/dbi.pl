#!/usr/bin/perl
# DBI with DBD::mysql and DBD::MariaDB.
use strict;
use warnings;
use utf8;
binmode STDOUT, ':utf8';

eval { require DBI; 1 } or do { print "skipped: no DBI\n"; exit 77 };
my @drivers = grep { my $d = $_; eval "require DBD::$d; 1" } qw(mysql MariaDB);
if (!@drivers) { print "skipped: neither DBD::mysql nor DBD::MariaDB\n"; exit 77 }

my $failed = 0;
sub is {
    my ($what, $got, $want) = @_;
    $got = defined $got ? $got : 'undef';
    if ($got ne $want) { print "FAIL $what: got $got, want $want\n"; $failed++ }
}

for my $driver (@drivers) {
    my $p = $driver eq 'mysql' ? 'mysql' : 'mariadb';
    my $dsn = "DBI:$driver:database=$ENV{DB_NAME};host=$ENV{DB_HOST};port=$ENV{DB_PORT}";
    for my $prepare (0, 1) {
        my $db = DBI->connect($dsn, $ENV{DB_USER}, $ENV{DB_PASSWORD} // '', { RaiseError => 1, PrintError => 0, "${p}_server_prepare" => $prepare, $p eq 'mysql' ? (mysql_enable_utf8mb4 => 1) : () });
        $db->do('DROP TABLE IF EXISTS dbi');
        $db->do('CREATE TABLE dbi (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(30), n DECIMAL(10,2), d DATETIME, b BLOB)');
        my $st = $db->prepare('INSERT INTO dbi (v, n, d, b) VALUES (?, ?, ?, ?)');
        for my $i (1 .. 50) { $st->execute("žluť $i", $i / 4, '2024-02-29 01:02:03', "bytes$i") }
        is("$driver id", $db->last_insert_id(undef, undef, undef, undef), 50);
        $st->execute(undef, undef, undef, undef);
        my @row = $db->selectrow_array('SELECT id, v, n, d, b FROM dbi WHERE id = ?', undef, 3);
        is("$driver row", join('|', @row), '3|žluť 3|0.75|2024-02-29 01:02:03|bytes3');
        is("$driver null", $db->selectrow_array('SELECT v FROM dbi WHERE id = 51') // 'null', 'null');
        is("$driver hash", $db->selectall_hashref('SELECT id, v FROM dbi WHERE id < 4', 'id')->{2}{v}, 'žluť 2');
        is("$driver rows", $db->do('UPDATE dbi SET n = 0 WHERE id <= ?', undef, 10), 10);
        is("$driver count", scalar @{ $db->selectcol_arrayref("SELECT id FROM dbi WHERE v LIKE ? AND id IN (?, ?, ?)", undef, 'ž%', 1, 2, 99) }, 2);
        $st = $db->prepare('SELECT id, v, n FROM dbi LIMIT 1');
        $st->execute;
        is("$driver names", join(',', @{ $st->{NAME} }), 'id,v,n');
        is("$driver keys", join(',', map { $_ ? 1 : 0 } @{ $st->{"${p}_is_pri_key"} }), '1,0,0');
        is("$driver auto", join(',', map { $_ ? 1 : 0 } @{ $st->{"${p}_is_auto_increment"} }), '1,0,0');
        $st->finish;
        $db->begin_work;
        $db->do('DELETE FROM dbi');
        $db->rollback;
        is("$driver rollback", $db->selectrow_array('SELECT COUNT(*) FROM dbi'), 51);
        eval { $db->do('INSERT INTO dbi (id) VALUES (1)') };
        is("$driver error", join('|', $db->err, $db->state), '1062|23000');
        is("$driver tables", scalar(grep { /dbi/ } $db->tables(undef, undef, 'dbi', 'TABLE')), 1);
        is("$driver columns", join(',', map { $_->[3] } @{ $db->column_info(undef, $ENV{DB_NAME}, 'dbi', '%')->fetchall_arrayref }), 'id,v,n,d,b');
        is("$driver primary key", join(',', $db->primary_key(undef, $ENV{DB_NAME}, 'dbi')), 'id');
        is("$driver ping", $db->ping ? 1 : 0, 1);
        is("$driver quote", $db->quote("it's"), "'it\\'s'");
        $db->disconnect;
    }
}
print $failed ? "$failed failures\n" : "passed with @drivers\n";
exit($failed ? 1 : 0);
