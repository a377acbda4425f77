<?php
// What the tests of PDO and mysqli share: the server's address and a small runner.
declare(strict_types=1);

function config(): array
{
    return [
        'host' => getenv('DB_HOST') ?: '127.0.0.1', 'port' => (int) (getenv('DB_PORT') ?: 4000),
        'user' => getenv('DB_USER') ?: 'root', 'password' => getenv('DB_PASSWORD') ?: '', 'database' => getenv('DB_NAME') ?: 'test',
    ];
}

function needs(string $extension): void
{
    if (!extension_loaded($extension)) {
        echo "skipped: PHP has no $extension\n";
        exit(77);
    }
}

function equal(mixed $got, mixed $want): void
{
    if ($got !== $want) {
        throw new Exception('got ' . var_export($got, true) . ', want ' . var_export($want, true));
    }
}

function raises(int $number, callable $f): void
{
    try {
        $f();
    } catch (PDOException $e) {
        equal((int) $e->errorInfo[1], $number);
        return;
    } catch (mysqli_sql_exception $e) {
        equal($e->getCode(), $number);
        return;
    }
    throw new Exception("no error, want $number");
}

/** @param array<string, callable> $tests */
function run(array $tests): never
{
    $failed = 0;
    foreach ($tests as $name => $test) {
        try {
            $test();
        } catch (Throwable $e) {
            $failed++;
            echo "FAIL $name: {$e->getMessage()}\n{$e->getTraceAsString()}\n";
        }
    }
    echo count($tests) - $failed, ' of ', count($tests), " passed\n";
    exit($failed ? 1 : 0);
}

const EVERY_TYPE = <<<SQL
CREATE TABLE every (id INT AUTO_INCREMENT PRIMARY KEY, ti TINYINT, su SMALLINT UNSIGNED, bi BIGINT, bu BIGINT UNSIGNED, dc DECIMAL(20,4), f FLOAT, d DOUBLE, b BIT(9),
  c CHAR(5), vc VARCHAR(100), tx TEXT, bl BLOB, da DATE, dt DATETIME(6), ts TIMESTAMP NULL, t TIME(2), y YEAR, e ENUM('x','y'), s SET('p','q'), j JSON)
SQL;
