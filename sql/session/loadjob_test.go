package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLoadJob: rejects by the road of rows and by that of sorted runs, the
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
				for n := 0; n < bulkFrom; filler++ {
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
			var rejects []loadReject
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
			if err := forgetLoads(s.engine.store, time.Now().Add(loadTokenAge+time.Hour)); err != nil {
				t.Fatal(err)
			}
			if got := s.rowsOf(t, "SELECT COUNT(*) FROM information_schema.SQLOTS_LOADS"); got != "0" {
				t.Errorf("records after a week: %s", got)
			}
		})
	}
}
