package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/loaddata"
)

// TestLoadJob: rejects by the path of rows and by that of sorted runs, the
// record of the token, and a second LOAD DATA with it.
func TestLoadJob(t *testing.T) {
	for _, long := range []bool{false, true} {
		t.Run(fmt.Sprintf("long %t", long), func(t *testing.T) {
			s := testSession(t)
			s.mustQuery(t, "CREATE DATABASE d", &sink{})
			s.mustQuery(t, "USE d", &sink{})
			s.mustQuery(t, "CREATE TABLE t (id INT PRIMARY KEY, n TINYINT NOT NULL, s VARCHAR(10), u INT UNIQUE, CHECK (n < 100))", &sink{})
			lines := []string{
				"1,1,a,\\N",
				"2,200,b,1",           // 1264
				"3,x,c,2",             // 1366
				"4,4",                 // 1261
				"5,5,eeeeeeeeeee,3,6", // 1262
				"6,6,fffffffffff,4",   // 1406
				"7,\\N,g,5",           // 1048 or 1263
				"8,100,h,6",           // 3819
				"9,9,i,7",
				"1,9,again,8",  // 1062, in the last place that the rows can see it
				"10,9,again,7", // 1062
			}
			filler := 0
			if long {
				for n := 0; n < loaddata.BulkFrom; filler++ {
					line := fmt.Sprintf("%d,%d,filler,%d", 1000+filler, filler%100, 1000+filler)
					lines = append(lines, line)
					n += len(line)
				}
			}
			load := func() *sink {
				w := &sink{file: []byte(strings.Join(lines, "\n") + "\n")}
				s.mustQuery(t, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ','", w)
				return w
			}
			s.mustQuery(t, "SET sqlots_load_token = 'job:1', sqlots_load_rejects = 8", &sink{})
			err := s.Query(t.Context(), "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ','", &sink{file: []byte(strings.Join(lines, "\n"))})
			if err == nil || !strings.Contains(err.Error(), "sqlots_load_rejects = 8") {
				t.Errorf("more rejects than allowed: %v", err)
			}
			s.mustQuery(t, "SET sqlots_load_rejects = 9", &sink{})
			load()
			want := fmt.Sprintf("%d 9", 2+filler)
			if got := s.rowsOf(t, "SELECT COUNT(*), MAX(IF(id < 1000, id, 0)) FROM t"); got != want {
				t.Errorf("rows: %s, want %s", got, want)
			}
			if got := s.rowsOf(t, "SELECT TOKEN, ROWS_LOADED, ROWS_REJECTED FROM information_schema.SQLOTS_LOADS"); got != fmt.Sprintf("job:1 %d 9", 2+filler) {
				t.Errorf("record: %s", got)
			}
			var rejects []engine.LoadReject
			if err := json.Unmarshal([]byte(s.rowsOf(t, "SELECT REJECTS FROM information_schema.SQLOTS_LOADS")), &rejects); err != nil {
				t.Fatal(err)
			}
			codes := map[int]uint16{}
			for _, r := range rejects {
				codes[r.Line] = r.Code
			}
			for line, code := range map[int]uint16{2: 1264, 3: 1366, 4: 1261, 5: 1262, 6: 1406, 8: 3819, 10: 1062, 11: 1062} {
				if codes[line] != code {
					t.Errorf("line %d: %d, want %d; all: %v", line, codes[line], code, rejects)
				}
			}
			load() // nothing
			if got := s.rowsOf(t, "SHOW WARNINGS"); !strings.Contains(got, "Loaded before: 'job:1'") {
				t.Errorf("warnings: %s", got)
			}
			if got := s.rowsOf(t, "SELECT COUNT(*) FROM t"); got != fmt.Sprint(2+filler) {
				t.Errorf("after the second: %s", got)
			}
			// In a transaction that is rolled back, the token goes too.
			s.mustQuery(t, "SET sqlots_load_token = 'job:2', sqlots_load_rejects = 0", &sink{})
			s.mustQuery(t, "BEGIN", &sink{})
			s.mustQuery(t, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ','", &sink{file: []byte("50,1,x,50\n")})
			s.mustQuery(t, "ROLLBACK", &sink{})
			if got := s.rowsOf(t, "SELECT COUNT(*) FROM information_schema.SQLOTS_LOADS"); got != "1" {
				t.Errorf("records after ROLLBACK: %s", got)
			}
			if err := engine.ForgetLoads(t.Context(), s.Engine.Store, time.Now().Add(engine.LoadTokenAge+time.Hour)); err != nil {
				t.Fatal(err)
			}
			if got := s.rowsOf(t, "SELECT COUNT(*) FROM information_schema.SQLOTS_LOADS"); got != "0" {
				t.Errorf("records after a week: %s", got)
			}
		})
	}
}

// TestLoadTokenOnce: of several statements with one token at the same time, of
// which one may belong to a client that is gone, one loads.
func TestLoadTokenOnce(t *testing.T) {
	testflag.Normal(t)
	for _, long := range []bool{false, true} {
		t.Run(fmt.Sprintf("long %t", long), func(t *testing.T) {
			s := testSession(t)
			s.mustQuery(t, "CREATE DATABASE d", &sink{})
			s.mustQuery(t, "CREATE TABLE d.t (k INT AUTO_INCREMENT PRIMARY KEY, n INT, s VARCHAR(100))", &sink{})
			file := strings.Repeat("1,a line of some length to fill the file\n", 200)
			if long {
				file = strings.Repeat(file, 1+loaddata.BulkFrom/len(file))
			}
			lines := strings.Count(file, "\n")
			for round := range 3 {
				var wg sync.WaitGroup
				for i := range 4 {
					other, err := New(t.Context(), s.Shared, mysqlwire.ConnInfo{ID: uint64(100 + i), Account: mysqlwire.Account{User: "root", Host: "%"}})
					if err != nil {
						t.Fatal(err)
					}
					wg.Go(func() {
						defer other.Close()
						for _, q := range []string{fmt.Sprintf("SET sqlots_load_token = 'job:%d'", round), "LOAD DATA LOCAL INFILE 'x' INTO TABLE d.t FIELDS TERMINATED BY ',' (n, s)"} {
							if err := other.Query(t.Context(), q, &sink{file: []byte(file)}); err != nil {
								t.Errorf("%s: %v", q, err)
							}
						}
					})
				}
				wg.Wait()
				if got := s.rowsOf(t, "SELECT COUNT(*) FROM d.t"); got != fmt.Sprint((round+1)*lines) {
					t.Errorf("round %d: %s rows, want %d", round, got, (round+1)*lines)
				}
			}
		})
	}
}

// TestLoadOverExpired: rows that have expired make way.
func TestLoadOverExpired(t *testing.T) {
	s := testSession(t)
	s.mustQuery(t, "CREATE DATABASE d", &sink{})
	s.mustQuery(t, "CREATE TABLE d.t (k INT PRIMARY KEY, at DATETIME, n INT) TTL = at + INTERVAL 1 HOUR", &sink{})
	s.mustQuery(t, "INSERT INTO d.t VALUES (1, UTC_TIMESTAMP() - INTERVAL 2 HOUR, 1), (2, NULL, 2)", &sink{})
	s.mustQuery(t, "SET sqlots_load_strict = ON", &sink{})
	s.mustQuery(t, "LOAD DATA LOCAL INFILE 'x' INTO TABLE d.t FIELDS TERMINATED BY ','", &sink{file: []byte("1,\\N,10\n3,\\N,30\n")})
	if got := s.rowsOf(t, "SELECT k, n FROM d.t"); got != "1 10/2 2/3 30" {
		t.Errorf("rows: %s", got)
	}
}
