<?php
declare(strict_types=1);
require __DIR__ . '/common.php';
needs('pdo_mysql');

function connect(array $options = []): PDO
{
    $c = config();
    return new PDO("mysql:host={$c['host']};port={$c['port']};dbname={$c['database']};charset=utf8mb4", $c['user'], $c['password'],
        $options + [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
}

$values = ['ti' => -128, 'su' => 65535, 'bi' => PHP_INT_MIN, 'bu' => '18446744073709551615', 'dc' => '1234567890123456.1234', 'f' => 1.5, 'd' => -2.5e100,
    'vc' => 'žluť 🐎', 'tx' => str_repeat('x', 70000 % 65000), 'bl' => "\0\1\xff'\\", 'da' => '2024-02-29', 'dt' => '2024-02-29 23:59:59.123456', 'ts' => '2024-01-01 00:00:00',
    't' => '-12:34:56.78', 'y' => 2024, 'e' => 'y', 's' => 'p,q', 'j' => '{"a": [1, null]}'];

$modes = ['emulated' => [PDO::ATTR_EMULATE_PREPARES => true], 'native' => [PDO::ATTR_EMULATE_PREPARES => false], 'native, unbuffered' => [PDO::ATTR_EMULATE_PREPARES => false, PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]];
$tests = [];
foreach ($modes as $mode => $options) {
    $tests["types, $mode"] = function () use ($options, $values, $mode) {
        $db = connect($options);
        $db->exec('DROP TABLE IF EXISTS every');
        $db->exec(EVERY_TYPE);
        $columns = array_keys($values);
        $st = $db->prepare('INSERT INTO every (' . implode(',', $columns) . ') VALUES (:' . implode(',:', $columns) . ')');
        foreach ($values as $k => $v) {
            $st->bindValue($k, $v, match (true) { is_int($v) => PDO::PARAM_INT, $k === 'bl' => PDO::PARAM_LOB, default => PDO::PARAM_STR });
        }
        $st->execute();
        equal($db->lastInsertId(), '1');
        $st->execute();
        equal($st->rowCount(), 1);
        $st = $db->prepare('SELECT * FROM every WHERE id = ?');
        $st->execute([1]);
        $row = $st->fetch();
        equal($st->fetch(), false);
        foreach (['ti' => -128, 'su' => 65535, 'bi' => PHP_INT_MIN, 'bu' => '18446744073709551615', 'dc' => '1234567890123456.1234', 'f' => 1.5, 'd' => -2.5e100, 'vc' => $values['vc'], 'tx' => $values['tx'], 'bl' => $values['bl'],
            'da' => '2024-02-29', 'dt' => '2024-02-29 23:59:59.123456', 'ts' => '2024-01-01 00:00:00', 't' => '-12:34:56.78', 'y' => '2024', 'e' => 'y', 's' => 'p,q', 'c' => null, 'b' => null] as $k => $v) {
            equal([$k, $row[$k]], [$k, $v]);
        }
        equal(json_decode($row['j'], true), ['a' => [1, null]]);
        $meta = $st->getColumnMeta(0);
        equal([$meta['name'], $meta['table'], $meta['native_type'], in_array('primary_key', $meta['flags'])], ['id', 'every', 'LONG', true]);
    };
    $tests["fetch modes, $mode"] = function () use ($options) {
        $db = connect($options);
        $db->exec('DROP TABLE IF EXISTS p');
        $db->exec('CREATE TABLE p (id INT PRIMARY KEY, name VARCHAR(20), grp INT)');
        $st = $db->prepare('INSERT INTO p VALUES (?, ?, ?)');
        for ($i = 0; $i < 100; $i++) {
            $st->execute([$i, "n$i", $i % 3]);
        }
        equal($db->query('SELECT id, name FROM p WHERE id < 2 ORDER BY id')->fetchAll(PDO::FETCH_KEY_PAIR), ['n0', 'n1']);
        equal(count($db->query('SELECT grp, id, name FROM p')->fetchAll(PDO::FETCH_GROUP)), 3);
        equal($db->query('SELECT name FROM p ORDER BY id LIMIT 2')->fetchAll(PDO::FETCH_COLUMN), ['n0', 'n1']);
        equal($db->query('SELECT name FROM p WHERE id = 7')->fetchObject()->name, 'n7');
        equal($db->query('SELECT COUNT(*) FROM p')->fetchColumn(), 100);
        $like = $db->prepare('SELECT COUNT(*) FROM p WHERE name LIKE :n AND grp IN (:a, :b)');
        $like->execute(['n' => 'n1%', 'a' => 0, 'b' => 1]);
        equal((int) $like->fetchColumn(), 8);
        $like->closeCursor();
        $limit = $db->prepare('SELECT id FROM p ORDER BY id LIMIT :l OFFSET :o');
        $limit->bindValue('l', 2, PDO::PARAM_INT);
        $limit->bindValue('o', 3, PDO::PARAM_INT);
        $limit->execute();
        equal($limit->fetchAll(PDO::FETCH_COLUMN), [3, 4]);
        equal($db->exec('UPDATE p SET grp = 9 WHERE id < 10'), 10);
        equal($db->exec('UPDATE p SET grp = 9 WHERE id < 10'), 0);
        equal($db->exec('DELETE FROM p WHERE id >= 90'), 10);
        $bound = null;
        $st = $db->prepare('SELECT name FROM p WHERE id = ?');
        $st->bindParam(1, $bound, PDO::PARAM_INT);
        foreach ([3, 4] as $bound) {
            $st->execute();
            $st->bindColumn('name', $name);
            $st->fetch(PDO::FETCH_BOUND);
            equal($name, "n$bound");
            $st->closeCursor();
        }
    };
    $tests["errors and transactions, $mode"] = function () use ($options) {
        $db = connect($options);
        raises(1062, fn () => $db->exec("INSERT INTO p VALUES (1, 'x', 1)"));
        raises(1146, fn () => $db->query('SELECT * FROM nowhere')->fetchAll());
        raises(1064, fn () => $db->prepare('SELEC 1')->execute());
        try {
            $db->exec("INSERT INTO p VALUES (1, 'x', 1)");
        } catch (PDOException $e) {
            equal($e->getCode(), '23000');
            equal(substr($e->errorInfo[2], 0, 25), "Duplicate entry '1' for k");
        }
        equal($db->beginTransaction(), true);
        equal($db->inTransaction(), true);
        $db->exec('DELETE FROM p');
        $db->exec('SAVEPOINT a');
        $db->rollBack();
        equal($db->inTransaction(), false);
        equal($db->query('SELECT COUNT(*) FROM p')->fetchColumn(), 90);
        $db->beginTransaction();
        $db->exec("INSERT INTO p VALUES (1000, 'in', 1)");
        $db->commit();
        $db->exec('DELETE FROM p WHERE id = 1000');
        // DDL ends the transaction, and the server says so.
        $db->beginTransaction();
        $db->exec('CREATE TABLE IF NOT EXISTS implicit (id INT)');
        equal($db->inTransaction(), false);
        equal($db->getAttribute(PDO::ATTR_DRIVER_NAME), 'mysql');
        equal(strlen($db->getAttribute(PDO::ATTR_SERVER_VERSION)) > 3, true);
        equal($db->quote("a'b\\c\n"), "'a\\'b\\\\c\\n'");
    };
}
$tests['several results'] = function () {
    $db = connect([PDO::ATTR_EMULATE_PREPARES => true]);
    $st = $db->query('SELECT 1 AS a; SELECT 2 AS b; SELECT 3 AS c');
    $seen = [];
    do {
        $seen[] = (int) $st->fetchColumn();
    } while ($st->nextRowset());
    equal($seen, [1, 2, 3]);
};
$tests['found rows, init command, persistent, stringified'] = function () {
    $db = connect([PDO::MYSQL_ATTR_FOUND_ROWS => true, PDO::MYSQL_ATTR_INIT_COMMAND => "SET sql_mode = 'ANSI_QUOTES', time_zone = '+02:00'", PDO::ATTR_STRINGIFY_FETCHES => true]);
    equal($db->exec('UPDATE p SET grp = 9 WHERE id < 10'), 10);
    equal($db->query('SELECT "id" FROM "p" WHERE id = 5')->fetchColumn(), '5');
    equal($db->query('SELECT @@time_zone')->fetchColumn(), '+02:00');
    $again = connect([PDO::ATTR_PERSISTENT => true]);
    equal((int) $again->query('SELECT 1')->fetchColumn(), 1);
};
$tests['load data'] = function () {
    $db = connect([PDO::MYSQL_ATTR_LOCAL_INFILE => true]);
    $file = tempnam(sys_get_temp_dir(), 'pdo');
    file_put_contents($file, "2000\ta\t1\n2001\t\\N\t2\n");
    equal($db->exec('LOAD DATA LOCAL INFILE ' . $db->quote($file) . ' INTO TABLE p'), 2);
    unlink($file);
};
run($tests);
