package gorm

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// go-sql-driver through database/sql, with text and with prepared statements.
func TestDatabaseSQL(t *testing.T) {
	if os.Getenv("DSN") == "" {
		t.Skip("DSN is not set")
	}
	for _, options := range []string{"", "&interpolateParams=true", "&multiStatements=true&clientFoundRows=true", "&compress=true", "&columnsWithAlias=true"} {
		t.Run(options, func(t *testing.T) {
			db, err := sql.Open("mysql", os.Getenv("DSN")+options)
			noErr(t, err)
			defer db.Close()
			noErr(t, db.Ping())
			exec := func(q string, args ...any) sql.Result {
				t.Helper()
				r, err := db.Exec(q, args...)
				noErr(t, err)
				return r
			}
			exec("DROP TABLE IF EXISTS plain")
			exec("CREATE TABLE plain (id BIGINT AUTO_INCREMENT PRIMARY KEY, u BIGINT UNSIGNED, s VARCHAR(40), b BLOB, f DOUBLE, d DECIMAL(20,5), t DATETIME(6), n INT, UNIQUE KEY (s))")
			at := time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC)
			id, _ := exec("INSERT INTO plain (u, s, b, f, d, t) VALUES (?, ?, ?, ?, ?, ?)", uint64(1<<64-1), "žluť 🐎'\\", []byte{0, 255, '\''}, -1.5e300, "123456789012345.54321", at).LastInsertId()
			equal(t, id, int64(1))
			var u uint64
			var s, d string
			var b []byte
			var f float64
			var when sql.NullTime
			var n sql.NullInt64
			noErr(t, db.QueryRow("SELECT u, s, b, f, d, t, n FROM plain WHERE id = ?", 1).Scan(&u, &s, &b, &f, &d, &when, &n))
			equal(t, fmt.Sprint(u, s, b, f, d, when.Time.Equal(at), n.Valid), fmt.Sprint(uint64(1<<64-1), "žluť 🐎'\\", []byte{0, 255, '\''}, -1.5e300, "123456789012345.54321", true, false))
			st, err := db.Prepare("INSERT INTO plain (s, n) VALUES (?, ?)")
			noErr(t, err)
			for i := range 200 {
				_, err := st.Exec(fmt.Sprint("s", i), i)
				noErr(t, err)
			}
			noErr(t, st.Close())
			matched, _ := exec("UPDATE plain SET n = 5 WHERE n = 5").RowsAffected()
			equal(t, matched == 1, strings.Contains(options, "clientFoundRows"))
			rows, err := db.Query("SELECT id, s, n FROM plain WHERE n < ? ORDER BY n", 100)
			noErr(t, err)
			ct, _ := rows.ColumnTypes()
			null, _ := ct[0].Nullable()
			equal(t, ct[0].DatabaseTypeName()+fmt.Sprint(null), "BIGINTfalse")
			count := 0
			for rows.Next() {
				count++
			}
			noErr(t, rows.Err())
			equal(t, count, 100)
			tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
			noErr(t, err)
			_, err = tx.Exec("DELETE FROM plain")
			noErr(t, err)
			noErr(t, tx.Rollback())
			tx, err = db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
			noErr(t, err)
			_, err = tx.Exec("DELETE FROM plain")
			var e *mysql.MySQLError
			equal(t, errors.As(err, &e) && e.Number == 1792, true)
			noErr(t, tx.Rollback())
			_, err = db.Exec("INSERT INTO plain (s) VALUES ('s1')")
			equal(t, errors.As(err, &e) && e.Number == 1062 && string(e.SQLState[:]) == "23000", true)
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			_, err = db.ExecContext(ctx, "SELECT SLEEP(30)")
			equal(t, errors.Is(err, context.DeadlineExceeded), true)
			if strings.Contains(options, "multiStatements") {
				rows, err := db.Query("SELECT 1; SELECT 2, 3")
				noErr(t, err)
				equal(t, rows.Next(), true)
				equal(t, rows.NextResultSet(), true)
				equal(t, rows.Next(), true)
				noErr(t, rows.Close())
			}
			mysql.RegisterReaderHandler("rows", func() io.Reader {
				return strings.NewReader("1000\tloaded\n1001\t\\N\n")
			})
			loaded, _ := exec("LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE plain (id, s)").RowsAffected()
			equal(t, loaded, int64(2))
			exec("DROP TABLE plain")
		})
	}
}
