package diff

import (
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// recorded are functions that MariaDB does not have or defines otherwise, next to
// calls: their answers are compared with recorded ones only.
var recorded = []string{
	"CHAR(# USING utf8mb4) n", "CHAR(#, # USING latin1) ii", "COMPRESS s", "UNCOMPRESS b", "INET6_ATON s", "INET6_NTOA(INET6_ATON(#)) s", "IS_IPV4_COMPAT b", "IS_IPV4_MAPPED b", "IS_UUID s", "UUID_TO_BIN s", "BIN_TO_UUID b", "FORMAT_BYTES n", "FORMAT_PICO_TIME n", "WEIGHT_STRING(#) s", "WEIGHT_STRING(# AS CHAR(3)) s", "LTRIM s", "ORD s", "ATAN2 nn", "PI() ", "VALIDATE_PASSWORD_STRENGTH s", "STATEMENT_DIGEST_TEXT s", "FORMAT nis", "QUOTE n", "OCTET_LENGTH n", "HEX d", "SUBSTR(# FROM #) si", "BIT_COUNT b", "(# & #) bb", "(~#) b", "(# << #) bi", "(# DIV #) sn", "(# MEMBER OF (#)) nj", "(# -> '$.a') j", "(RANDOM_BYTES(#) IS NULL) n",
	"REGEXP_LIKE ss", "REGEXP_LIKE(#, #, 'i') ss", "REGEXP_REPLACE(#, #, #, 1, 2) sss", "REGEXP_INSTR(#, #, #, #, 1) ssii", "REGEXP_SUBSTR(#, #, 1, #) ssi",
	"JSON_VALUE(#, '$.a') j", "JSON_VALUE(#, '$[0]' RETURNING DECIMAL(5,1) DEFAULT 7 ON EMPTY DEFAULT 8 ON ERROR) j", "JSON_VALUE(#, '$.b[1]' RETURNING SIGNED ERROR ON ERROR) j", "JSON_PRETTY j", "JSON_STORAGE_SIZE j", "JSON_SCHEMA_VALID('{\"type\": \"object\", \"required\": [\"a\"]}', #) j", "JSON_SCHEMA_VALIDATION_REPORT('{\"type\": \"array\", \"items\": {\"type\": \"number\"}, \"maxItems\": 2}', #) j", "JSON_CONTAINS_PATH jop", "JSON_CONTAINS_PATH(#, 'all', #, #) jpp", "JSON_ARRAY_INSERT jpn", "JSON_SEARCH joss", "JSON_KEYS jp", "JSON_TYPE(CAST(# AS JSON)) n", "JSON_TYPE(CAST(# AS JSON)) d", "CAST(# AS JSON) s", "CAST(# AS JSON) d", "CAST(JSON_EXTRACT(#, #) AS SIGNED) jp", "CAST(JSON_EXTRACT(#, #) AS CHAR) jp", "CAST(JSON_EXTRACT(#, #) AS DATE) jp", "CAST(JSON_EXTRACT(#, #) AS DECIMAL(6,2)) jp",
	"CAST(# AS FLOAT) n", "CAST(# AS REAL) s", "CAST(# AS YEAR) n", "CAST(# AS YEAR) d", "CAST(# AS NCHAR(2)) s", "CAST(# AS CHAR CHARACTER SET latin1) s", "CAST(# AS DATETIME(6)) n", "CAST(# AS TIME(6)) n", "CAST(# AS DATE) n", "CAST(# AS DOUBLE) d", "CAST(# AS BINARY) n", "BINARY(#) s",
	"ADDDATE di", "SUBDATE di", "ADDDATE(#, INTERVAL # HOUR_MINUTE) ds", "(# + INTERVAL # DAY_MICROSECOND) ds", "(# + INTERVAL # YEAR_MONTH) ds", "(# - INTERVAL # HOUR_SECOND) ds", "(# - INTERVAL # SECOND_MICROSECOND) ds", "(# + INTERVAL # DAY_HOUR) ds", "(INTERVAL # MINUTE + #) nd", "GET_FORMAT(DATE, #) s", "GET_FORMAT(DATETIME, 'EUR') ", "TIMESTAMPDIFF(YEAR, #, #) dd", "TIMESTAMPDIFF(QUARTER, #, #) dd", "TIMESTAMPDIFF(WEEK, #, #) dd", "TIMESTAMPDIFF(HOUR, #, #) dd", "TIMESTAMPDIFF(SECOND, #, #) dd", "TIMESTAMPADD(MONTH, #, #) id", "TIMESTAMPADD(MICROSECOND, #, #) id", "EXTRACT(QUARTER FROM #) d", "EXTRACT(DAY_SECOND FROM #) d", "EXTRACT(MINUTE_MICROSECOND FROM #) d", "PERIOD_ADD ni", "UNIX_TIMESTAMP() ", "NOW(3) ", "CURDATE() ", "UTC_TIME(2) ", "FROM_UNIXTIME(#, '%Y %f') n", "YEARWEEK di", "STR_TO_DATE(#, '%d.%m.%y %H:%i') s", "WEEK(#, 3) d", "TIME_FORMAT df", "MAKETIME iid",
	"(# SOUNDS LIKE #) ss", "(# NOT REGEXP #) ss", "(# LIKE # ESCAPE '|') ss", "(# COLLATE utf8mb4_0900_as_cs < #) ss", "(# <=> #) dd", "((#, #) = (#, #)) nsns", "((#, 1) IN ((#, 1), (2, #))) nnn", "(# IS FALSE) n", "(# IS NOT UNKNOWN) s", "(# NOT BETWEEN # AND #) ddd", "(CASE WHEN # THEN # WHEN # THEN # END) nsnd", "IF ndd", "IF njs", "COALESCE jn", "NULLIF dd", "GREATEST dd", "LEAST dn", "INTERVAL sss", "ISNULL d", "ELT inn", "IFNULL bj", "CONCAT bs", "CONCAT_WS snd", "FIELD dds", "EXPORT_SET(#, 'Y', 'N', '', 5) n",
	"SUM(#) n", "SUM(DISTINCT #) s", "AVG(#) n", "AVG(#) d", "MIN(#) s", "MAX(#) d", "MAX(#) j", "COUNT(#) n", "COUNT(DISTINCT #, #) ns", "STD(#) n", "VAR_SAMP(#) n", "BIT_AND(#) n", "BIT_OR(#) b", "BIT_XOR(#) n", "GROUP_CONCAT(# ORDER BY 1 SEPARATOR '|') s", "GROUP_CONCAT(DISTINCT #, #) nd", "JSON_ARRAYAGG(#) s", "JSON_OBJECTAGG('k', #) d", "ANY_VALUE(#) s",
	"LAG(#, 1, #) OVER () nn", "LAG(#, 1, #) OVER () ds", "LEAD(#) OVER () s", "FIRST_VALUE(#) OVER () d", "NTH_VALUE(#, 1) OVER () n", "SUM(#) OVER () n", "MIN(#) OVER () s", "NTILE(3) OVER (ORDER BY #) n", "CUME_DIST() OVER (ORDER BY #) s",
	"ST_AsText(ST_GeomFromText(#)) g", "ST_AsGeoJSON(ST_GeomFromText(#)) g", "ST_Area(ST_GeomFromText(#)) g", "ST_Length(ST_GeomFromText(#)) g", "ST_X(ST_GeomFromText(#)) g", "ST_IsValid(ST_GeomFromText(#)) g", "ST_IsEmpty(ST_GeomFromText(#)) g", "ST_IsSimple(ST_GeomFromText(#)) g", "ST_GeometryType(ST_GeomFromText(#)) g", "ST_Dimension(ST_GeomFromText(#)) g", "ST_AsText(ST_Centroid(ST_GeomFromText(#))) g", "ST_AsText(ST_Envelope(ST_GeomFromText(#))) g", "ST_AsText(ST_ConvexHull(ST_GeomFromText(#))) g", "ST_NumGeometries(ST_GeomFromText(#)) g", "ST_AsText(ST_SwapXY(ST_GeomFromText(#))) g", "ST_Distance(ST_GeomFromText(#), ST_GeomFromText(#)) gg", "ST_Intersects(ST_GeomFromText(#), ST_GeomFromText(#)) gg", "ST_Contains(ST_GeomFromText(#), ST_GeomFromText(#)) gg", "ST_Within(ST_GeomFromText(#), ST_GeomFromText(#)) gg", "ST_Equals(ST_GeomFromText(#), ST_GeomFromText(#)) gg", "ST_Touches(ST_GeomFromText(#), ST_GeomFromText(#)) gg", "ST_Crosses(ST_GeomFromText(#), ST_GeomFromText(#)) gg", "ST_Overlaps(ST_GeomFromText(#), ST_GeomFromText(#)) gg", "ST_Disjoint(ST_GeomFromText(#), ST_GeomFromText(#)) gg", "MBRContains(ST_GeomFromText(#), ST_GeomFromText(#)) gg", "ST_Distance_Sphere(ST_GeomFromText(#, 4326), ST_GeomFromText(#, 4326)) gg", "ST_GeoHash(#, #, 8) nn", "ST_AsText(ST_PointFromGeoHash(#, 0)) s", "HEX(ST_AsBinary(ST_GeomFromText(#))) g", "ST_SRID(ST_GeomFromText(#, 4326)) g",
}

// shapes are literals of class g.
var shapes = []string{"'POINT(1 2)'", "'POINT(0.5 0.5)'", "'LINESTRING(0 0, 1 1, 2 0)'", "'LINESTRING(0 1, 1 0)'", "'POLYGON((0 0, 0 2, 2 2, 2 0, 0 0))'", "'POLYGON((0 0, 0 4, 4 4, 4 0, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1))'", "'MULTIPOINT((0 0), (1 1))'", "'MULTIPOLYGON(((0 0, 0 1, 1 1, 1 0, 0 0)), ((2 2, 2 3, 3 3, 3 2, 2 2)))'", "'GEOMETRYCOLLECTION EMPTY'", "'GEOMETRYCOLLECTION(POINT(1 1), LINESTRING(0 0, 2 2))'", "'POINT(1)'", "'POLYGON((0 0, 2 2, 0 2, 2 0, 0 0))'"}

// typed is a table with a column of each type, which calls get as arguments.
const typed = `CREATE TABLE typed (ti TINYINT, iu INT UNSIGNED NOT NULL, bi BIGINT, de DECIMAL(10,3), fl FLOAT, dbl DOUBLE NOT NULL, yr YEAR, bt BIT(9),
  ch CHAR(5) CHARACTER SET latin1, vc VARCHAR(20) NOT NULL, tx TEXT COLLATE utf8mb4_bin, vb VARBINARY(7), bl BLOB, en ENUM('b','a'), st SET('x','y'),
  da DATE, dt DATETIME(3) NOT NULL, ts TIMESTAMP NULL, tm TIME(2), js JSON, pt POINT)`

const typedRows = `INSERT INTO typed VALUES
  (-7, 12, 20240229, 2.345, 1.5, -0.25, 2024, b'101', 'ab', '3abc', '2024-02-29', x'3132', 'a,b', 'a', 'x,y', '2024-02-29', '2024-02-29 23:59:59.125', '2001-02-03 04:05:06', '-12:34:56.78', '{"a": 1, "b": [1, {"c": "x"}]}', POINT(1, 2)),
  (NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, '1999-12-31 00:00:00', NULL, NULL, NULL, NULL)`

var columns = strings.Fields("ti iu bi de fl dbl yr bt ch vc tx vb bl en st da dt ts tm js pt")

func TestMain(m *testing.M) { testflag.Main(m) }

// TestRecorded compares calls of all functions with recorded answers: each argument
// takes all literals of its class in turn, and the columns of all types; the answers
// have types. What the answers ought to be is for TestCalls, which compares with
// MariaDB; this test finds changes, and is fast. -update writes the answers again.
// Only the long form takes all of them.
func TestRecorded(t *testing.T) {
	s := servertest.Start(t, server.Config{Memory: 256 << 20, CheckPlans: true})
	r := &recorder{t: t, conn: open(t, servertest.DSN(s), "SET sql_mode = '"+mode+"'", "CREATE DATABASE recorded", "USE recorded", typed, typedRows, "SET timestamp = 1700000000.123456")}
	for _, form := range append(append([]string{}, calls...), recorded...) {
		if crc32.ChecksumIEEE([]byte(form))%testflag.PickRecorded[uint32](10, 3, 1) != 0 {
			continue
		}
		i := strings.LastIndexByte(form, ' ')
		r.form(form, form[:i], form[i+1:])
	}
	testflag.GoldenPart(t, "testdata/calls.txt", r.out.String(), func(int, string) string { return "" })
}

type recorder struct {
	t    *testing.T
	conn *sql.Conn
	out  strings.Builder
}

func literalsOf(class byte) []string {
	switch class {
	case 'g':
		return shapes
	case 'o':
		return []string{"'one'", "'all'", "'x'"}
	}
	return awkward[class]
}

func (r *recorder) form(form, head, classes string) {
	r.out.WriteString("## " + form + "\n")
	if classes == "" {
		r.answer(head)
		return
	}
	for p := range len(classes) {
		for i, v := range append(literalsOf(classes[p]), "NULL") {
			args := make([]string, len(classes))
			for j := range args {
				of := literalsOf(classes[j])
				args[j] = of[(i*(j+3)+j)%len(of)]
			}
			args[p] = v
			r.answer(fillForm(head, args))
		}
	}
	var good []string
	for p := range len(classes) {
		for i, c := range columns {
			args := make([]string, len(classes))
			for j := range args {
				of := literalsOf(classes[j])
				args[j] = of[(i+1)%len(of)]
			}
			args[p] = c
			if text := fillForm(head, args); r.column(text) {
				good = append(good, text)
			}
		}
	}
	r.types(good)
}

// fillForm is a call of a form.
func fillForm(head string, args []string) string {
	switch {
	case strings.Contains(head, "#"):
		for _, a := range args {
			head = strings.Replace(head, "#", a, 1)
		}
		return head
	case len(args) == 2 && (head[0] < 'A' || head[0] > 'Z' || head == "DIV" || head == "AND" || head == "OR" || head == "XOR" || head == "LIKE"):
		return "(" + args[0] + " " + head + " " + args[1] + ")"
	}
	return head + "(" + strings.Join(args, ", ") + ")"
}

// answer records a call of literals.
func (r *recorder) answer(text string) {
	vals, typ, err := r.query("SELECT " + text)
	r.out.WriteString(text + " = " + short(vals, err) + typ + r.warnings(err) + "\n")
}

// column records a call of a column over the two rows of typed.
func (r *recorder) column(text string) bool {
	vals, _, err := r.query("SELECT " + text + " FROM typed")
	r.out.WriteString(text + " = " + short(vals, err) + "\n")
	return err == nil
}

// types records the types of calls as columns of a view.
func (r *recorder) types(list []string) {
	if len(list) == 0 {
		return
	}
	var sel []string
	for i, text := range list {
		sel = append(sel, text+" AS c"+strconv.Itoa(i))
	}
	if _, err := r.conn.ExecContext(r.t.Context(), "CREATE OR REPLACE VIEW v AS SELECT "+strings.Join(sel, ", ")+" FROM typed"); err != nil {
		r.out.WriteString("types: " + short(nil, err) + "\n")
		return
	}
	vals, _, err := r.query("SELECT CONCAT_WS(' ', COLUMN_TYPE, COLLATION_NAME, IF(IS_NULLABLE = 'YES', NULL, 'NOT NULL'), LEFT(COLUMN_DEFAULT, 9)) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'recorded' AND TABLE_NAME = 'v' ORDER BY ORDINAL_POSITION")
	if err != nil {
		r.out.WriteString("types: " + short(nil, err) + "\n")
		return
	}
	last := ""
	for i, v := range vals {
		if v != last {
			r.out.WriteString("type of " + list[i] + " = " + v + "\n")
		}
		last = v
	}
}

func (r *recorder) warnings(err error) string {
	if err != nil {
		return ""
	}
	vals, _, err := r.query("SHOW COUNT(*) WARNINGS")
	if err != nil || len(vals) != 1 || vals[0] == "0" {
		return ""
	}
	return " !" + vals[0]
}

// query is the first column of a result, with its type.
func (r *recorder) query(text string) (vals []string, typ string, err error) {
	rows, err := r.conn.QueryContext(r.t.Context(), text)
	if err != nil {
		return nil, "", err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, "", err
	}
	typ = " " + types[0].DatabaseTypeName()
	if p, s, ok := types[0].DecimalSize(); ok {
		typ += fmt.Sprintf("(%d,%d)", p, s)
	}
	for rows.Next() {
		var v sql.NullString
		if err := rows.Scan(&v); err != nil {
			return nil, "", err
		}
		if !v.Valid {
			v.String = "NULL"
		}
		vals = append(vals, v.String)
	}
	return vals, typ, rows.Err()
}

// short is a result in one line.
func short(vals []string, err error) string {
	var failed *mysql.MySQLError
	switch {
	case errors.As(err, &failed):
		return "error " + strconv.Itoa(int(failed.Number))
	case err != nil:
		return err.Error()
	}
	text := strings.Join(vals, "; ")
	if len(text) > 1000 {
		return fmt.Sprintf("%.100s… %d bytes", strconv.QuoteToASCII(text[:100]), len(text))
	}
	text = strconv.QuoteToASCII(text)
	if len(text) > 120 {
		text = fmt.Sprintf("%s… %d", text[:100], len(text))
	}
	return text
}
