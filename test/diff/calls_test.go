package diff

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// awkward are the literals that calls get, by class: n numbers, s texts, d
// dates and times, j documents, b bytes, i small integers. A call's argument
// is mostly of the class that the function is made for.
var awkward = map[byte][]string{
	'n': {"0", "1", "-1", "2", "7", "255", "65536", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "0.5", "-1.5", "2.50", "99999.99999", "1e10", "-1e-5", "0.1e0", "123456789012345678901234567890.123456789", "TRUE"},
	's': {"''", "'a'", "'abc'", "'ABC '", "' 12abc'", "'1.5e2'", "'-0.7'", "'é中'", "'a,b,c'", "'ß'", "'%a_'", "'0x1F'", "'a\\0b'", "'aaa'"},
	'd': {"'2024-02-29'", "'2023-02-29'", "'2024-12-31 23:59:59.999999'", "'0000-00-00'", "'2024-00-10'", "DATE'2024-02-29'", "TIMESTAMP'2024-02-29 23:59:59.5'", "TIMESTAMP'1969-12-31 23:59:59'", "TIME'-12:34:56'", "TIME'12:34:56.789'", "'838:59:59'", "'12:34'", "20240229", "20240229101112", "'24-1-2'", "'x'", "DATE'9999-12-31'", "DATE'1000-01-01'"},
	'j': {"'{\"a\": 1, \"b\": [1, 2, {\"c\": null}]}'", "'[1, \"a\", true, 2.5]'", "'1'", "'\"x\"'", "'null'", "'[]'", "'{}'", "'{\"a\": {\"b\": \"c d\"}}'"},
	'b': {"x'00FF'", "x''", "x'616263'", "BINARY 'a'"},
	'i': {"0", "1", "2", "3", "-1", "-2", "10", "64", "100"},
	'p': {"'$'", "'$.a'", "'$.b[1]'", "'$[0]'", "'$**.c'", "'$.*'", "'$[last]'", "'$.x'"},
	't': {"TIME'01:00:00'", "'1:2:3'", "'-10:00:00.5'", "'00:00:00'", "100", "TIME'838:59:59'"},
	'u': {"'UTC'", "'+05:30'", "'Europe/Berlin'", "'-11:00'", "'nosuch'"},
	'f': {"'%Y-%m-%d'", "'%H:%i:%s.%f'", "'%W %M %e %D'", "'%j %U %u %V %v %X %x'", "'%T %r %p'", "'%a %b %c %k %l %y'", "'%%%q'"},
}

// calls are the functions with the classes of their arguments, for the comparison with
// MariaDB. What MariaDB defines otherwise is in deviations_test.go and not in the list.
var calls = []string{
	"ABS n", "ACOS n", "ASIN n", "ATAN n", "ATAN nn", "CEIL n", "COS n", "COT n", "CRC32 s", "DEGREES n", "EXP n", "FLOOR n", "LN n", "LOG n", "LOG nn", "LOG10 n", "LOG2 n", "MOD nn", "POW nn", "RADIANS n", "ROUND n", "ROUND ni", "SIGN n", "SIN n", "SQRT n", "TAN n", "TRUNCATE ni", "CONV nii", "CONV sii", "BIN n", "OCT n", "HEX n", "HEX s", "FORMAT ni",
	"ASCII s", "BIT_LENGTH s", "CHAR n", "CHAR_LENGTH s", "CONCAT ss", "CONCAT sn", "CONCAT_WS sss", "ELT iss", "EXPORT_SET iss", "EXPORT_SET isssi", "FIELD sss", "FIELD nnn", "FIELD nsn", "FIND_IN_SET ss", "FROM_BASE64 s", "TO_BASE64 s", "INSERT siis", "INSTR ss", "LEFT si", "RIGHT si", "LENGTH s", "LENGTH n", "LOCATE ss", "LOWER s", "UPPER s", "LTRIM s", "RTRIM s", "TRIM s", "MAKE_SET iss", "MID sii", "ORD s", "QUOTE s", "REPEAT si", "REPLACE sss", "REVERSE s", "RPAD sis", "LPAD sis", "SOUNDEX s", "SPACE i", "STRCMP ss", "STRCMP ns", "SUBSTR si", "SUBSTR sii", "SUBSTRING_INDEX ssi", "UNHEX s", "REGEXP_REPLACE sss", "REGEXP_SUBSTR ss", "REGEXP_INSTR ss",
	"MD5 s", "SHA1 s", "SHA2 si", "BIT_COUNT n", "UNCOMPRESSED_LENGTH s", "INET_ATON s", "INET_NTOA n", "INET6_NTOA b", "IS_IPV4 s", "IS_IPV6 s",
	"IF nss", "IFNULL nn", "IFNULL ns", "NULLIF nn", "NULLIF ns", "COALESCE nnn", "COALESCE sn", "COALESCE ds", "GREATEST nn", "GREATEST ns", "LEAST nnn", "LEAST ss", "INTERVAL nnn", "ISNULL n",
	"DATE d", "TIME d", "YEAR d", "MONTH d", "DAYOFMONTH d", "DAYOFWEEK d", "WEEKDAY d", "DAYOFYEAR d", "DAYNAME d", "MONTHNAME d", "HOUR d", "MINUTE d", "SECOND d", "MICROSECOND d", "QUARTER d", "WEEK d", "WEEK di", "YEARWEEK d", "WEEKOFYEAR d", "LAST_DAY d", "TO_DAYS d", "TO_SECONDS d", "FROM_DAYS n", "FROM_UNIXTIME n", "UNIX_TIMESTAMP d", "DATEDIFF dd", "TIMEDIFF dd", "ADDTIME dt", "SUBTIME dt", "TIMESTAMP d", "TIMESTAMP dt", "MAKEDATE ii", "MAKETIME iin", "SEC_TO_TIME n", "TIME_TO_SEC t", "DATE_FORMAT df", "TIME_FORMAT tf", "STR_TO_DATE df", "STR_TO_DATE sf", "CONVERT_TZ duu", "PERIOD_DIFF nn",
	"JSON_EXTRACT jp", "JSON_EXTRACT jpp", "JSON_KEYS j", "JSON_LENGTH j", "JSON_LENGTH jp", "JSON_DEPTH j", "JSON_TYPE j", "JSON_VALID j", "JSON_VALID s", "JSON_CONTAINS jj", "JSON_QUOTE s", "JSON_UNQUOTE j", "JSON_ARRAY nsn", "JSON_OBJECT sn", "JSON_MERGE_PATCH jj", "JSON_MERGE_PRESERVE jj", "JSON_SET jpn", "JSON_INSERT jps", "JSON_REPLACE jpn", "JSON_REMOVE jp", "JSON_ARRAY_APPEND jpn", "JSON_SEARCH jos", "JSON_OVERLAPS jj",
	"+ nn", "- nn", "* nn", "/ nn", "DIV nn", "% nn", "& nn", "| nn", "^ nn", "<< ni", ">> ni", "= ns", "= nn", "< ns", "< nn", "<=> ns", "= ds", "< dd", "= ss", "< ss", "+ sn", "* ss", "+ dn", "AND nn", "OR nn", "XOR nn", "LIKE ss", "= dn", "< dn", "- dn", "/ sn",
	"CAST(# AS SIGNED) n", "CAST(# AS UNSIGNED) n", "CAST(# AS SIGNED) s", "CAST(# AS UNSIGNED) s", "CAST(# AS CHAR) n", "CAST(# AS CHAR(3)) s", "CAST(# AS CHAR(3)) n", "CAST(# AS DECIMAL(10,2)) n", "CAST(# AS DECIMAL(10,2)) s", "CAST(# AS DECIMAL(30,10)) n", "CAST(# AS DATE) d", "CAST(# AS DATETIME) d", "CAST(# AS DATETIME(3)) d", "CAST(# AS TIME) d", "CAST(# AS TIME(2)) d", "CAST(# AS DOUBLE) s", "CAST(# AS DOUBLE) n", "CAST(# AS BINARY(4)) s", "CAST(# AS SIGNED) d", "CAST(# AS DECIMAL(20,6)) d", "CAST(# AS CHAR) d", "CAST(# AS UNSIGNED) d",
	"(# BETWEEN # AND #) nnn", "(# BETWEEN # AND #) nsn", "(# BETWEEN # AND #) dsd", "(# IN (#, #)) nsn", "(# IN (#, #)) nnn", "(# IN (#, #)) sss", "(CASE # WHEN # THEN # ELSE # END) nnsn", "(NOT #) n", "(-#) n", "(~#) n", "(# IS TRUE) s", "(# IS NULL) d",
	"(# + INTERVAL # DAY) di", "(# - INTERVAL # MONTH) di", "(# + INTERVAL # SECOND) dn", "(# + INTERVAL # YEAR) di", "(# + INTERVAL # HOUR) dn", "(# + INTERVAL # MICROSECOND) di", "(# + INTERVAL # QUARTER) di", "(# + INTERVAL # WEEK) di", "(# + INTERVAL # MINUTE_SECOND) dt", "(# + INTERVAL # DAY_SECOND) ds",
	"TIMESTAMPDIFF(DAY, #, #) dd", "TIMESTAMPDIFF(MONTH, #, #) dd", "TIMESTAMPDIFF(MICROSECOND, #, #) dd", "TIMESTAMPADD(MINUTE, #, #) id", "EXTRACT(YEAR_MONTH FROM #) d", "EXTRACT(DAY_HOUR FROM #) d", "EXTRACT(HOUR_SECOND FROM #) d", "EXTRACT(SECOND_MICROSECOND FROM #) d", "EXTRACT(DAY_MICROSECOND FROM #) d", "EXTRACT(WEEK FROM #) d", "EXTRACT(HOUR FROM #) t",
	"TRIM(LEADING # FROM #) ss", "TRIM(TRAILING # FROM #) ss", "TRIM(BOTH # FROM #) ss", "SUBSTRING(# FROM # FOR #) sii", "POSITION(# IN #) ss", "(# REGEXP #) ss", "CONVERT(# USING latin1) s", "HEX(CONVERT(# USING utf16)) s", "(# COLLATE utf8mb4_bin = #) ss",
}

// call fills a form with literals; now and then an argument is of another
// class, or NULL.
func call(r *rand.Rand, form string) string {
	i := strings.LastIndexByte(form, ' ')
	head, classes := form[:i], form[i+1:]
	args := make([]string, len(classes))
	for j := range classes {
		class := classes[j]
		if r.IntN(8) == 0 && class != 'p' && class != 'o' {
			class = "nsd"[r.IntN(3)]
		}
		switch {
		case classes[j] == 'o':
			args[j] = pick(r, []string{"'one'", "'all'"})
		case r.IntN(15) == 0:
			args[j] = "NULL"
		default:
			args[j] = pick(r, awkward[class])
		}
	}
	switch {
	case strings.Contains(head, "#"):
		for _, a := range args {
			head = strings.Replace(head, "#", a, 1)
		}
		return head
	case head[0] < 'A' || head[0] > 'Z' || head == "DIV" || head == "AND" || head == "OR" || head == "XOR" || head == "LIKE":
		return "(" + args[0] + " " + head + " " + args[1] + ")"
	}
	return head + "(" + strings.Join(args, ", ") + ")"
}

// TestCalls calls each function with awkward values: by literals, by prepared
// parameters' path, over a table in batches, and on an oracle.
func TestCalls(t *testing.T) {
	dsn := *dsnFlag
	if dsn == "" {
		s := servertest.Start(t, server.Config{Memory: 256 << 20, CheckPlans: true})
		dsn = servertest.DSN(s)
	}
	c := &callRun{t: t, ctx: t.Context(), ours: open(t, dsn, "SET sql_mode = '"+mode+"'")}
	if *oracleFlag != "" {
		c.oracle = open(t, *oracleFlag, "SET sql_mode = '"+mode+",TIME_ROUND_FRACTIONAL'")
	}
	r := rand.New(rand.NewPCG(testflag.Seed(1), 77))
	for range testflag.Rounds(1, 1, 2) {
		for _, form := range calls {
			for range *queriesFlag / 10 {
				c.compare(form, call(r, form))
			}
		}
	}
	c.summary()
}

type callRun struct {
	t            *testing.T
	ctx          context.Context
	ours, oracle *sql.Conn
	compared     int
	found        map[string][]string
}

func (c *callRun) compare(form, text string) {
	c.compared++
	a := runQuery(c.ctx, c.ours, "SELECT "+text, false)
	// The same in a batch of rows, from a column that keeps it from being
	// folded: the literal's own type stays.
	b := runQuery(c.ctx, c.ours, "SELECT IF(x, "+text+", NULL) FROM (SELECT 1 x UNION ALL SELECT 2) t LIMIT 1", true)
	if a.err == nil && b.err == nil && a.rows[0][0] != b.rows[0][0] && !sameNumber(a.rows[0][0], b.rows[0][0]) {
		c.note("self "+form, fmt.Sprintf("%s: %q by itself, %q in a batch", text, a.rows[0][0], b.rows[0][0]))
	}
	if a.errNumber() == 1815 || a.errNumber() == 1105 {
		c.note("error "+form, text+": "+a.err.Error())
	}
	if c.oracle == nil {
		return
	}
	o := runQuery(c.ctx, c.oracle, "SELECT "+text, false)
	switch {
	case a.err != nil && o.err != nil:
		return
	case differsByDesign(form, text, a.errNumber()):
		return
	case a.err != nil || o.err != nil:
		c.note(form, fmt.Sprintf("%s: %s, oracle %s", text, a.short(), o.short()))
	case a.rows[0][0] != o.rows[0][0] && !sameNumber(a.rows[0][0], o.rows[0][0]):
		c.note(form, fmt.Sprintf("%s: %q, oracle %q", text, a.rows[0][0], o.rows[0][0]))
	}
}

// sameNumber allows for the last digits of doubles and for zeros after a point.
func sameNumber(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	d := x - y
	if d < 0 {
		d = -d
	}
	return d <= 1e-12*max(x, -x)
}

func (c *callRun) note(form, text string) {
	if c.found == nil {
		c.found = map[string][]string{}
	}
	text = strings.Join(strings.Fields(text), " ")
	c.found[form] = append(c.found[form], text[:min(len(text), 300)])
}

func (c *callRun) summary() {
	forms := make([]string, 0, len(c.found))
	for f := range c.found {
		forms = append(forms, f)
	}
	sort.Strings(forms)
	for _, f := range forms {
		c.t.Errorf("%s: %d differences, such as\n\t%s", f, len(c.found[f]), strings.Join(c.found[f][:min(len(c.found[f]), 3)], "\n\t"))
	}
	c.t.Logf("%d calls", c.compared)
}
