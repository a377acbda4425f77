<?php
declare(strict_types=1);
require __DIR__ . '/common.php';
needs('mysqli');
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);

function connect(): mysqli
{
    $c = config();
    $db = new mysqli($c['host'], $c['user'], $c['password'], $c['database'], $c['port']);
    $db->set_charset('utf8mb4');
    return $db;
}

run([
    'text and prepared' => function () {
        $db = connect();
        $db->query('DROP TABLE IF EXISTS m');
        $db->query('CREATE TABLE m (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(30) NOT NULL, price DECIMAL(8,2), made DATETIME(3), raw BLOB)');
        $st = $db->prepare('INSERT INTO m (name, price, made, raw) VALUES (?, ?, ?, ?)');
        $name = 'ann';
        $price = 1.25;
        $made = '2024-02-29 01:02:03.456';
        $raw = null;
        $st->bind_param('sdsb', $name, $price, $made, $raw);
        $st->send_long_data(3, str_repeat("\0x", 5000));
        $st->send_long_data(3, 'end');
        $st->execute();
        equal([$st->insert_id, $st->affected_rows], [1, 1]);
        $db->execute_query('INSERT INTO m (name, price) VALUES (?, ?)', ['bob', null]);
        $res = $db->execute_query('SELECT * FROM m WHERE id = ?', [1]);
        $row = $res->fetch_assoc();
        equal([$row['id'], $row['price'], $row['made'], strlen($row['raw'])], [1, '1.25', $made, 10003]);
        equal($db->query('SELECT id, price FROM m ORDER BY id')->fetch_all(MYSQLI_ASSOC), [['id' => '1', 'price' => '1.25'], ['id' => '2', 'price' => null]]);
        $st = $db->prepare('SELECT name, LENGTH(raw) FROM m ORDER BY id');
        $st->execute();
        $st->store_result();
        equal($st->num_rows, 2);
        $st->bind_result($n, $l);
        $st->fetch();
        equal([$n, $l], ['ann', 10003]);
        $fields = $db->query('SELECT id AS x, name FROM m LIMIT 0')->fetch_fields();
        equal([$fields[0]->name, $fields[0]->orgname, $fields[0]->table, $fields[0]->type, ($fields[0]->flags & MYSQLI_PRI_KEY_FLAG) > 0, ($fields[0]->flags & MYSQLI_AUTO_INCREMENT_FLAG) > 0], ['x', 'id', 'm', MYSQLI_TYPE_LONG, true, true]);
        equal([$fields[1]->type, $fields[1]->length, ($fields[1]->flags & MYSQLI_NOT_NULL_FLAG) > 0], [MYSQLI_TYPE_VAR_STRING, 120, true]);
    },
    'cursor' => function () {
        $db = connect();
        for ($i = 0; $i < 300; $i++) {
            $db->query("INSERT INTO m (name) VALUES ('c$i')");
        }
        $st = $db->prepare('SELECT id FROM m ORDER BY id');
        $st->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
        $st->attr_set(MYSQLI_STMT_ATTR_PREFETCH_ROWS, 1);
        $st->execute();
        $st->bind_result($id);
        $n = 0;
        while ($st->fetch()) {
            $n++;
        }
        equal($n, 302);
        $res = $db->query('SELECT id FROM m', MYSQLI_USE_RESULT);
        $n = 0;
        while ($res->fetch_row()) {
            $n++;
        }
        equal($n, 302);
    },
    'several statements' => function () {
        $db = connect();
        $db->multi_query('SELECT 1; INSERT INTO m (name) VALUES ("multi"); SELECT COUNT(*) FROM m');
        $seen = [];
        do {
            if ($res = $db->store_result()) {
                $seen[] = $res->fetch_row()[0];
                $res->free();
            }
        } while ($db->next_result());
        equal($seen, ['1', '303']);
        $db->multi_query('SELECT 1; SELECT broken; SELECT 2');
        $db->store_result()->free();
        raises(1054, fn () => $db->next_result());
    },
    'transactions, errors, info' => function () {
        $db = connect();
        $db->begin_transaction(MYSQLI_TRANS_START_READ_WRITE, 'named');
        $db->query('DELETE FROM m');
        $db->savepoint('sp');
        $db->release_savepoint('sp');
        $db->rollback();
        equal($db->query('SELECT COUNT(*) FROM m')->fetch_row()[0], '303');
        $db->autocommit(false);
        $db->query("UPDATE m SET name = 'z' WHERE id < 3");
        equal($db->info, 'Rows matched: 2  Changed: 2  Warnings: 0');
        $db->commit();
        $db->autocommit(true);
        raises(1146, fn () => $db->query('SELECT * FROM nowhere'));
        raises(1048, fn () => $db->query('INSERT INTO m (name) VALUES (NULL)'));
        $db->query("SET sql_mode = ''");
        $db->query("INSERT INTO m (name, price) VALUES ('" . str_repeat('x', 40) . "', 1)");
        equal([$db->warning_count, $db->get_warnings()->errno], [1, 1265]);
        equal($db->real_escape_string("a'b"), "a\\'b");
        equal($db->ping(), true);
        equal($db->stat() !== '', true);
        $c = config();
        equal($db->change_user($c['user'], $c['password'], $c['database']), true);
        equal($db->query('SELECT @@sql_mode')->fetch_row()[0] !== '', true);
        equal($db->character_set_name(), 'utf8mb4');
        raises(1049, fn () => $db->select_db('no_such_database'));
        raises(1045, fn () => new mysqli($c['host'], 'nobody', 'wrong', $c['database'], $c['port']));
    },
    'asynchronous query' => function () {
        $a = connect();
        $b = connect();
        $a->query('SELECT SLEEP(0.1), 1', MYSQLI_ASYNC);
        $b->query('SELECT 2', MYSQLI_ASYNC);
        $seen = [];
        while (count($seen) < 2) {
            $read = $error = $reject = [$a, $b];
            if (mysqli_poll($read, $error, $reject, 1)) {
                foreach ($read as $db) {
                    if ($res = $db->reap_async_query()) {
                        $row = $res->fetch_row();
                        $seen[] = end($row);
                        $res->free();
                    }
                }
            }
        }
        sort($seen);
        equal($seen, ['1', '2']);
    },
]);
