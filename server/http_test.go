package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/klauspost/compress/zstd"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// httpClient is an account that uses HTTP.
type httpClient struct {
	t              testing.TB
	base           string
	user, password string
	header         http.Header
	client         *http.Client
}

// startHTTP is startServer with HTTP, and a client as root.
func startHTTP(t testing.TB, change ...func(*server.Config)) (*server.Server, *client, *httpClient) {
	t.Helper()
	s, dsn := startServer(t, append([]func(*server.Config){func(c *server.Config) { c.HTTP.Listen = "127.0.0.1:0" }}, change...)...)
	return s, dial(t, dsn), clientOf(t, s)
}

func clientOf(t testing.TB, s *server.Server) *httpClient {
	tr := &http.Transport{DisableCompression: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the test's own certificate
	t.Cleanup(tr.CloseIdleConnections)
	return &httpClient{t: t, base: "http://" + s.HTTPAddr(), user: "root", header: http.Header{}, client: &http.Client{Transport: tr}}
}

// as is the client with another account.
func (h *httpClient) as(user, password string) *httpClient {
	c := *h
	c.user, c.password, c.header = user, password, http.Header{}
	return &c
}

func (h *httpClient) with(name, value string) *httpClient {
	c := *h
	c.header = h.header.Clone()
	c.header.Set(name, value)
	return &c
}

func (h *httpClient) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, h.base+path, body)
	if err != nil {
		h.t.Fatal(err)
	}
	for k, v := range h.header {
		req.Header[k] = v
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	if h.user != "" {
		req.SetBasicAuth(h.user, h.password)
	}
	return h.client.Do(req)
}

// do sends a request and reads all of its answer.
func (h *httpClient) do(method, path, body string) (int, string) {
	h.t.Helper()
	res, err := h.send(context.Background(), method, path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(method, path, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		b = append(b, "\ncut: "+err.Error()...)
	}
	return res.StatusCode, string(b)
}

// query runs a statement and returns its rows as TSV.
func (h *httpClient) query(text string, params ...string) string {
	h.t.Helper()
	status, body := h.do("POST", "/v1/query?format=tsv&db=t&"+strings.Join(params, "&"), text)
	if status != 200 {
		h.t.Fatalf("%s: %d %s", clip(text), status, body)
	}
	return strings.TrimSuffix(body, "\n")
}

// wants sends a request that has to be answered with a status and an error number.
func (h *httpClient) wants(status, code int, method, path, body string) {
	h.t.Helper()
	got, answer := h.do(method, path, body)
	var e struct{ Error struct{ Code int } }
	_ = json.Unmarshal([]byte(answer), &e)
	if got != status || e.Error.Code != code {
		h.t.Errorf("%s %s %s: %d %s, want %d and error %d", method, path, clip(body), got, answer, status, code)
	}
}

// session opens a session.
func (h *httpClient) session() string {
	h.t.Helper()
	var s struct{ Session string }
	status, body := h.do("POST", "/v1/session", "")
	if err := json.Unmarshal([]byte(body), &s); status != 201 || err != nil || len(s.Session) != 43 {
		h.t.Fatal(status, body)
	}
	return s.Session
}

var httpStatements = []string{
	"SELECT 9223372036854775807, -9223372036854775808, 9223372036854775808, 18446744073709551615, 0, TRUE",
	"SELECT CAST('12345678901234567890123456789012345.123456789012345678901234567890' AS DECIMAL(65,30)), -0.50, 1e30, 1e-30, -0e0, 1.5, 3.0e0",
	"SELECT NULL a, '' b, 'NULL' c, ' ' d, '\\\\N' e",
	"SELECT x'00ff', x'', UNHEX('6162'), CAST('é' AS BINARY)",
	"SELECT '😀 李雷 é', 'a\\tb\\nc\\rd\\\\e\"f,g''h', '\\0'",
	"SELECT CAST('2024-02-29' AS DATE), CAST('2024-02-29 23:59:59.123456' AS DATETIME(6)), CAST('-838:59:59' AS TIME), CAST('12:00:00.5' AS TIME(1)), YEAR('2024-01-01')",
	`SELECT CAST('{"a": [1, 2.5, null, "x\\"é\\n"], "b": 18446744073709551615}' AS JSON), JSON_ARRAY(), CAST('"s"' AS JSON)`,
	"SELECT ST_GeomFromText('POINT(1 2)'), ST_GeomFromText('POLYGON((0 0,0 1,1 1,0 0))', 4326)",
	"SELECT * FROM all_types ORDER BY id",
	"SELECT t.id, u.id, t.id IS NULL FROM all_types t LEFT JOIN all_types u ON u.id = t.id + 1 ORDER BY t.id",
	"SELECT * FROM all_types WHERE id > 100",
	"SELECT id FROM all_types WHERE id = 1",
	"SELECT REPEAT('é', 100000), REPEAT(x'01', 100001), REPEAT('\"\\n', 50000), REPEAT('a', 60000)",
	"SELECT COUNT(*), SUM(d), AVG(i), MAX(f), MIN(t), GROUP_CONCAT(id) FROM all_types",
	"SELECT i, COUNT(*) FROM all_types GROUP BY i WITH ROLLUP",
	"SHOW TABLES",
	"SHOW COLUMNS FROM all_types",
	"SHOW CREATE TABLE all_types",
	"SHOW VARIABLES LIKE 'sql_mode'",
	"EXPLAIN FORMAT=TREE SELECT * FROM all_types WHERE id = 2",
	"DESCRIBE all_types",
	"SELECT DATABASE(), CURRENT_USER(), @@version_comment",
	"SELECT n FROM numbers ORDER BY n",
	"WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 900) SELECT n, CONCAT('row ', n), n / 3 FROM c",
	"SELECT latin, HEX(latin) FROM texts ORDER BY id",
	"SELECT CAST(1 AS FLOAT), CAST(0.1 AS FLOAT), 16777216.5e0, 1.7976931348623157e308",
	"SELECT * FROM nowhere",
	"SELECT 1 +",
	"SELECT id, id FROM all_types JOIN",
	"SELECT CAST('x' AS JSON)",
	"SELECT (SELECT id FROM all_types)",
	"",
}

// TestHTTPValues: statements have the same values and errors by HTTP, in each format, as by
// MySQL's protocol.
func TestHTTPValues(t *testing.T) {
	testflag.Normal(t)
	_, c, h := startHTTP(t)
	c.exec(`CREATE TABLE all_types (id INT PRIMARY KEY, i TINYINT, u BIGINT UNSIGNED, z INT(6) ZEROFILL, d DECIMAL(65,30), dz DECIMAL(8,2) ZEROFILL, f FLOAT, g DOUBLE, fz DOUBLE(9,2) ZEROFILL, b BIT(10), y YEAR,
		dt DATE, t TIME(3), ts TIMESTAMP(6) NULL, s VARCHAR(50), tx TEXT, bin VARBINARY(20), bl BLOB, e ENUM('a','é,"'), st SET('x','y','z'), j JSON, p POINT, c CHAR(5))`)
	c.exec(`INSERT INTO all_types VALUES (1, -128, 18446744073709551615, 42, '12345678901234567890123456789012345.123456789012345678901234567890', 1.5, 0.1, 0.1, 1.5, b'1000000001', 2024,
		'1000-01-01', '-01:02:03.456', '2024-01-02 03:04:05.678901', 'NULL', 'a,"b"\n\tc\\', x'00ff01', x'', 'é,"', 'x,z', '{"k": [1, 2]}', ST_GeomFromText('POINT(1.5 -2)'), 'ab'),
		(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
		(3, 0, 0, 0, 0, 0, 0, -0.0, 0, b'0', 0, '9999-12-31', '838:59:59', NULL, '', '', '', '', 'a', '', '[]', NULL, '')`)
	c.exec("CREATE TABLE numbers (n BIGINT UNSIGNED)")
	c.exec("INSERT INTO numbers VALUES (0), (9007199254740993), (9223372036854775807), (9223372036854775808), (18446744073709551615), (NULL)")
	c.exec("CREATE TABLE texts (id INT PRIMARY KEY, latin VARCHAR(20) CHARACTER SET latin1)")
	c.exec("INSERT INTO texts VALUES (1, 'caf\u00e9'), (2, NULL)")
	for _, q := range httpStatements {
		want, types, werr := wireRows(c, q)
		plainNumbers(want, types)
		for _, form := range []string{"ndjson", "ndjson&rows=objects", "ndjson&numbers=string", "ndjson&binary=hex", "json", "json&rows=objects", "csv", "csv&header=0", "tsv", "tsv&header=1", "csv&binary=hex&gzip=1", "ndjson&gzip=1"} {
			status, body := h.do("POST", "/v1/query?db=t&geometry=raw&format="+form, q)
			if strings.HasSuffix(form, "gzip=1") && status == 200 {
				body = gunzip(t, body)
			}
			if werr != nil {
				var e struct {
					Error struct {
						Code           uint16
						State, Message string
					}
				}
				_ = json.Unmarshal([]byte(body), &e)
				if status != 400 || e.Error.Code != werr.Number || e.Error.Message != werr.Message || e.Error.State != string(werr.SQLState[:]) {
					t.Errorf("%s by %s: %d %s, want %v", q, form, status, body, werr)
				}
				continue
			}
			if status != 200 {
				t.Errorf("%s by %s: %d %s", q, form, status, clip(body))
				continue
			}
			got, err := httpRows(form, body, types)
			if err != nil {
				t.Errorf("%s by %s: %v in %s", clip(q), form, err, clip(body))
				continue
			}
			if strings.Contains(form, "objects") && q == httpStatements[9] {
				continue // two columns of one name
			}
			plainNumbers(got, types)
			if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
				t.Errorf("%s by %s:\n got %s\nwant %s", clip(q), form, clip(fmt.Sprintf("%q", got)), clip(fmt.Sprintf("%q", want)))
			}
		}
	}
}

const nullText = "\x00NULL"

// wireRows are the texts of a result by MySQL's protocol, and the types of its columns.
func wireRows(c *client, q string) (out [][]string, types []*sql.ColumnType, failed *mysql.MySQLError) {
	c.t.Helper()
	rows, err := c.c.QueryContext(context.Background(), q)
	if errors.As(err, &failed) {
		return nil, nil, failed
	}
	if err != nil {
		c.t.Fatal(q, err)
	}
	defer rows.Close()
	types, _ = rows.ColumnTypes()
	for rows.Next() {
		cells, to := make([]sql.RawBytes, len(types)), make([]any, len(types))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			c.t.Fatal(q, err)
		}
		row := make([]string, len(types))
		for i, b := range cells {
			row[i] = nullText
			if b != nil {
				row[i] = string(b)
			}
		}
		out = append(out, row)
	}
	if errors.As(rows.Err(), &failed) {
		return nil, nil, failed
	}
	return out, types, nil
}

// httpRows reads a response as the texts of MySQL's protocol.
func httpRows(form, body string, types []*sql.ColumnType) ([][]string, error) {
	name, _, _ := strings.Cut(form, "&")
	switch name {
	case "csv", "tsv":
		records, err := fieldsOf(body, name)
		if err == nil && (form == "tsv&header=1" || name == "csv" && !strings.Contains(form, "header=0")) {
			records = records[1:]
		}
		if strings.Contains(form, "hex") {
			for _, r := range records {
				for i := range r {
					if isBinaryColumn(types[i]) && r[i] != nullText {
						r[i] = unhex(r[i])
					}
				}
			}
		}
		return records, err
	}
	var columns []struct{ Name, Type, Encoding string }
	var rows []json.RawMessage
	if name == "json" {
		var doc struct {
			Columns *[]struct{ Name, Type, Encoding string }
			Rows    *[]json.RawMessage
			End     *struct{ Rows int }
		}
		doc.Columns, doc.Rows = &columns, &rows
		if err := json.Unmarshal([]byte(body), &doc); err != nil || doc.End == nil || doc.End.Rows != len(rows) {
			return nil, fmt.Errorf("no document: %w", err)
		}
	} else {
		lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
		var head struct {
			Columns *[]struct{ Name, Type, Encoding string }
		}
		head.Columns = &columns
		var end struct{ End *struct{ Rows int } }
		if err := errors.Join(json.Unmarshal([]byte(lines[0]), &head), json.Unmarshal([]byte(lines[len(lines)-1]), &end)); err != nil || end.End == nil || end.End.Rows != len(lines)-2 {
			return nil, fmt.Errorf("head or end is wrong: %w", err)
		}
		for _, l := range lines[1 : len(lines)-1] {
			rows = append(rows, json.RawMessage(l))
		}
	}
	var out [][]string
	for _, raw := range rows {
		cells := make([]json.RawMessage, len(columns))
		if strings.Contains(form, "objects") {
			m := map[string]json.RawMessage{}
			if err := json.Unmarshal(raw, &m); err != nil {
				return nil, err
			}
			for i, c := range columns {
				cells[i] = m[c.Name]
			}
		} else if err := json.Unmarshal(raw, &cells); err != nil || len(cells) != len(columns) {
			return nil, fmt.Errorf("row %s: %w", raw, err)
		}
		row := make([]string, len(cells))
		for i, cell := range cells {
			text, err := cellText(string(cell), columns[i].Type, columns[i].Encoding)
			if err != nil {
				return nil, err
			}
			row[i] = text
		}
		out = append(out, row)
	}
	return out, nil
}

func cellText(cell, typ, encoding string) (string, error) {
	if typ == "json" && cell != "null" {
		return cell, nil
	}
	if cell == "null" {
		return nullText, nil
	}
	text := cell
	if strings.HasPrefix(cell, `"`) {
		if err := json.Unmarshal([]byte(cell), &text); err != nil {
			return "", err
		}
	}
	switch encoding {
	case "base64":
		b, err := base64.StdEncoding.DecodeString(text)
		return string(b), err
	case "hex":
		return unhex(text), nil
	case "number": // BIT(10)
		n, err := strconv.ParseUint(text, 10, 64)
		return string([]byte{byte(n >> 8), byte(n)}), err
	}
	return text, nil
}

// plainNumbers writes numbers as Go does: the driver has read and written them, JSON has no
// leading zeros.
func plainNumbers(rows [][]string, types []*sql.ColumnType) {
	for _, r := range rows {
		for i, cell := range r {
			switch types[i].DatabaseTypeName() {
			case "FLOAT", "DOUBLE":
				if f, err := strconv.ParseFloat(cell, 64); err == nil {
					r[i] = strconv.FormatFloat(f, 'g', -1, 64)
				}
			case "INT", "UNSIGNED INT", "DECIMAL", "YEAR":
				for len(r[i]) > 1 && r[i][0] == '0' && r[i][1] != '.' {
					r[i] = r[i][1:]
				}
			}
		}
	}
}

func unhex(s string) string {
	var b []byte
	_, _ = fmt.Sscanf(s, "%x", &b)
	return string(b)
}

func isBinaryColumn(t *sql.ColumnType) bool {
	switch t.DatabaseTypeName() {
	case "BLOB", "BINARY", "VARBINARY", "BIT", "GEOMETRY", "LONGBLOB", "MEDIUMBLOB", "TINYBLOB":
		return true
	}
	return false
}

// fieldsOf reads CSV with its word NULL, and TSV with its backslashes.
func fieldsOf(body, format string) (out [][]string, err error) {
	var row []string
	var field []byte
	sep := byte(',')
	if format == "tsv" {
		sep = '\t'
	}
	quoted, was, null := false, false, false
	end := func() {
		text := string(field)
		if null || format == "csv" && !was && text == "NULL" {
			text = nullText
		}
		row, field, was, null = append(row, text), nil, false, false
	}
	for i := 0; i < len(body); i++ {
		b := body[i]
		switch {
		case format == "tsv" && b == '\\':
			i++
			if body[i] == 'N' {
				null = true
				continue
			}
			if at := strings.IndexByte("tnr0", body[i]); at >= 0 {
				field = append(field, "\t\n\r\x00"[at])
			} else {
				field = append(field, body[i])
			}
		case format == "csv" && b == '"' && quoted && i+1 < len(body) && body[i+1] == '"':
			field = append(field, '"')
			i++
		case format == "csv" && b == '"':
			quoted, was = !quoted, true
		case quoted:
			field = append(field, b)
		case b == sep:
			end()
		case b == '\n':
			end()
			out, row = append(out, row), nil
		default:
			field = append(field, b)
		}
	}
	if quoted || field != nil || row != nil {
		return nil, errors.New("a record has no end")
	}
	return out, nil
}

func gunzip(t testing.TB, body string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err, clip(body))
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestHTTPQuery: what a request can choose.
func TestHTTPQuery(t *testing.T) {
	_, c, h := startHTTP(t)
	c.exec("CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20))")
	for body, want := range map[string]string{
		`{"sql":"SELECT ?, ?, ?, ?, ?, ?","params":[18446744073709551615,"é",null,true,1.50,{"base64":"AP8="}]}`: "[18446744073709551615,\"é\",null,1,1.50,\"AP8=\"]",
		`{"sql":"SELECT ? + 1, ?","params":[-5,1e2]}`:                                                            "[-4,100]",
		`{"sql":"SELECT 1;"}`: "[1]",
	} {
		status, got := h.with("Content-Type", "application/json").do("POST", "/v1/query", body)
		lines := strings.Split(got, "\n")
		if status != 200 || len(lines) < 2 || lines[1] != want {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	j := h.with("Content-Type", "application/json")
	j.wants(400, 0, "POST", "/v1/query", `{"sql":"SELECT ?","params":[1,2]}`)
	j.wants(400, 0, "POST", "/v1/query", `{"sql":"SELECT ?","params":[[1]]}`)
	j.wants(400, 0, "POST", "/v1/query", `{"sql":"SELECT ?","params":[{"a":1}]}`)
	j.wants(400, 0, "POST", "/v1/query", `{"sqll":"SELECT 1"}`)
	j.wants(400, 0, "POST", "/v1/query", `{"sql":"SELECT 1"} x`)
	j.wants(400, 0, "POST", "/v1/query?multi=1", `{"sql":"SELECT ?","params":[1]}`)
	j.wants(400, 1065, "POST", "/v1/query", `{}`)
	h.wants(400, 0, "POST", "/v1/query?format=xml", "SELECT 1")
	h.wants(400, 0, "POST", "/v1/query?unknown=1", "SELECT 1")
	h.wants(400, 0, "POST", "/v1/query?max_rows=-1", "SELECT 1")
	h.wants(400, 0, "POST", "/v1/query?binary=raw", "SELECT 1")
	h.wants(404, 0, "GET", "/v1/query", "")
	h.wants(404, 0, "POST", "/v1/nothing", "")
	h.with("Content-Type", "multipart/form-data; boundary=x").wants(415, 0, "POST", "/v1/query", "SELECT 1")
	h.with("Content-Encoding", "br").wants(415, 0, "POST", "/v1/query", "SELECT 1")
	h.with("Content-Encoding", "gzip").wants(400, 0, "POST", "/v1/query", "SELECT 1")
	h.wants(400, 1064, "POST", "/v1/query", "SELECT 1; SELECT 2")
	h.wants(400, 1049, "POST", "/v1/query?db=none", "SELECT 1")
	h.wants(504, 3024, "POST", "/v1/query?timeout_ms=50", "SELECT SLEEP(20)")
	h.wants(400, 3948, "POST", "/v1/query?db=t", "LOAD DATA LOCAL INFILE 'x' INTO TABLE a")
	if got := h.query("INSERT INTO a (v) VALUES ('x'), ('y'); SELECT LAST_INSERT_ID(); SELECT v FROM a", "multi=1"); got != "\n1\n\nx\ny" {
		t.Errorf("%q", got)
	}
	if status, got := h.do("POST", "/v1/query?multi=1&db=t", "INSERT INTO a (v) VALUES ('z'); SELECT nix"); status != 400 || !strings.Contains(got, `"code":1054`) || !strings.Contains(got, `"statement":2`) {
		t.Error(status, got)
	}
	if got := h.query("SELECT COUNT(*) FROM a"); got != "3" {
		t.Error("the statement before an error is not done:", got)
	}
	if status, got := h.do("POST", "/v1/query?max_rows=2&db=t", "SELECT id FROM a ORDER BY id LIMIT 100"); status != 200 || !strings.HasPrefix(strings.SplitN(got, "\n", 2)[1], "[1]\n[2]\n{\"end\":{\"rows\":2,\"truncated\":true,") {
		t.Error(status, got)
	}
	if status, got := h.do("POST", "/v1/query?max_rows=2&db=t", "SELECT id FROM a WHERE id < 3"); status != 200 || strings.Contains(got, "truncated") {
		t.Error(status, got)
	}
	if status, got := h.with("Accept", "text/csv").do("POST", "/v1/query", "SELECT 1 AS one"); status != 200 || got != "one\n1\n" {
		t.Error(status, got)
	}
	if status, got := h.do("POST", "/v1/query?geometry=geojson", "SELECT ST_GeomFromText('POINT(10 20)', 4326)"); !strings.Contains(got, `[{"type":"Point","coordinates":[20.0,10.0]}]`) {
		t.Error(status, got)
	}
	if status, got := h.do("POST", "/v1/query", "SELECT ST_GeomFromText('POINT(10 20)', 4326)"); !strings.Contains(got, `["POINT(10 20)"]`) {
		t.Error(status, got)
	}
	// An error after the first bytes cuts the response.
	status, got := h.do("POST", "/v1/query?db=t", "SELECT REPEAT('x', 100000) UNION ALL SELECT (SELECT id FROM a)")
	if status == 200 && (!strings.Contains(got, `{"error":{"code":1242`) || !strings.Contains(got, "\ncut: ")) || status != 200 && status != 400 {
		t.Error(status, clip(got))
	}
	// The statements are those of a session that others see.
	h.with("User-Agent", "me/1").query("SELECT 1")
	if got := h.query("SELECT CONCAT_WS(',', USER, COMMAND, INFO LIKE 'SELECT CONCAT_WS%') FROM information_schema.processlist WHERE id = CONNECTION_ID()"); got != "root,Query,1" {
		t.Error(got)
	}
	if got := h.query("SELECT GROUP_CONCAT(ATTR_NAME) FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = CONNECTION_ID()"); got != "_client_name,program_name,query_id" {
		t.Error(got)
	}
}

// TestHTTPBodies: large, compressed and slow ones.
func TestHTTPBodies(t *testing.T) {
	testflag.Normal(t)
	s, c, h := startHTTP(t)
	c.exec("SET GLOBAL max_allowed_packet = 1048576")
	zip := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		return b.String()
	}
	big := "SELECT LENGTH('" + strings.Repeat("x", 1_000_000) + "')"
	if got := h.query(big); got != "1000000" {
		t.Error(got)
	}
	z := h.with("Content-Encoding", "gzip")
	if got := z.query(zip(big)); got != "1000000" {
		t.Error(got)
	}
	huge := "SELECT LENGTH('" + strings.Repeat("x", 2_000_000) + "')"
	h.wants(413, 1153, "POST", "/v1/query", huge)
	bomb := zip("SELECT '" + strings.Repeat("x", testflag.Pick(20, 20, 500)<<20) + "'")
	before := heapBytes()
	z.wants(413, 1153, "POST", "/v1/query", bomb)
	if grown := heapBytes() - before; grown > 16<<20 {
		t.Errorf("a bomb has left %d bytes", grown)
	}
	h.with("Content-Type", "application/json").wants(413, 0, "POST", "/v1/login", `{"user":"`+strings.Repeat("x", 1<<20)+`"}`)
	// A reader that does not read stops its statement.
	c.exec("CREATE TABLE wide (id INT PRIMARY KEY, v TEXT)")
	c.exec("INSERT INTO wide WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, REPEAT('x', 1000) FROM n")
	res, err := h.send(t.Context(), "POST", "/v1/query?db=t", strings.NewReader("SELECT a.*, b.v FROM wide a, wide b"))
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(res.Body)
	if line, _ := in.ReadString('\n'); !strings.HasPrefix(line, `{"columns":[`) {
		t.Fatal(line)
	}
	id := res.Header.Get("X-Sqlots-Query-Id")
	if id == "" {
		t.Error("no id")
	}
	h.wants(204, 0, "DELETE", "/v1/query/"+id, "")
	rest, err := io.ReadAll(in)
	if err == nil || !bytes.HasSuffix(rest, []byte("interrupted\"}}\n")) || len(rest) > 100<<20 {
		t.Errorf("%d bytes, %v, %s", len(rest), err, rest[max(0, len(rest)-100):])
	}
	eventually(t, func() bool { return s.OpenConnections() == 1 })
}

// TestHTTPManyStreams: results that are not read on end with their clients, take little
// memory, and keep no other statement waiting.
func TestHTTPManyStreams(t *testing.T) {
	n := testflag.Pick(10, 50, 900)
	s, c, h := startHTTP(t, func(c *server.Config) { c.Memory = 256 << 20 })
	c.exec("SET GLOBAL max_connections = 2000")
	c.exec("CREATE TABLE wide (id INT PRIMARY KEY, v TEXT)")
	c.exec("INSERT INTO wide WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, REPEAT('x', 20000) FROM n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := heapBytes()
	read := make(chan string, n)
	for i := range n {
		format := []string{"ndjson", "csv", "json"}[i%3]
		go func() {
			res, err := h.send(ctx, "POST", "/v1/query?db=t&format="+format, strings.NewReader("SELECT * FROM wide"))
			if err != nil {
				read <- err.Error()
				return
			}
			line, _ := bufio.NewReaderSize(res.Body, 16).ReadString('x')
			read <- fmt.Sprint(res.StatusCode, len(line) > 0)
			<-ctx.Done()
			res.Body.Close()
		}()
	}
	for range n {
		if got := <-read; got != "200 true" {
			t.Errorf("a stream: %s", got)
		}
	}
	held := heapBytes() - before
	t.Logf("%d streams, %d kB of heap each", n, held/int64(n)>>10)
	if held > 256<<20*6/5 { // as for resident memory
		t.Errorf("%d streams hold %d bytes of heap", n, held)
	}
	if got := h.query("SELECT 1"); got != "1" {
		t.Error(got)
	}
	c.rows("1000", "SELECT COUNT(*) FROM t.wide")
	cancel()
	eventually(t, func() bool { return s.OpenConnections() == 1 })
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestHTTPLogins: accounts count by HTTP as they do on the wire.
func TestHTTPLogins(t *testing.T) {
	s, c, h := startHTTP(t)
	for _, account := range []string{
		"app IDENTIFIED BY 'right'", "nat IDENTIFIED WITH mysql_native_password BY 'right'", "far@'10.1.2.3' IDENTIFIED BY 'right'", "ssl_only IDENTIFIED BY 'right' REQUIRE SSL",
		"locked IDENTIFIED BY 'right' ACCOUNT LOCK", "old IDENTIFIED BY 'right' PASSWORD EXPIRE", "three IDENTIFIED BY 'right' FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME UNBOUNDED",
		"one IDENTIFIED BY 'right' WITH MAX_USER_CONNECTIONS 1", "hourly IDENTIFIED BY 'right' WITH MAX_CONNECTIONS_PER_HOUR 2", "free",
	} {
		c.exec("CREATE USER " + account)
	}
	try := func(status, code int, user, password string) {
		t.Helper()
		h.as(user, password).wants(status, code, "POST", "/v1/query", "SELECT 1")
	}
	for _, user := range []string{"app", "nat"} {
		try(200, 0, user, "right")
		try(200, 0, user, "right")
		try(401, 1045, user, "wrong")
		try(401, 1045, user, "")
	}
	try(200, 0, "free", "")
	try(401, 1045, "free", "any")
	try(401, 1045, "nix", "right")
	try(401, 1045, strings.Repeat("x", 1000), "right")
	try(401, 1045, "far", "right")
	try(401, 1045, "ssl_only", "right")
	try(403, 3118, "locked", "right")
	try(403, 1820, "old", "right")
	h.as("", "").wants(401, 1045, "POST", "/v1/query", "SELECT 1")
	h.as("", "").with("Authorization", "Bearer x").wants(401, 1045, "POST", "/v1/query", "SELECT 1")
	for range 3 {
		h.as("three", "wrong").do("POST", "/v1/query", "SELECT 1")
	}
	try(403, 3955, "three", "right")
	try(200, 0, "hourly", "right")
	try(200, 0, "hourly", "right")
	try(429, 1226, "hourly", "right")
	// An expired password can be changed, and nothing else done.
	old := h.as("old", "right")
	old.with("Content-Type", "application/json").wants(403, 1820, "POST", "/v1/query", `{"sql":"SELECT ?","params":[1]}`)
	old.wants(200, 0, "POST", "/v1/query", "ALTER USER USER() IDENTIFIED BY 'new'")
	try(200, 0, "old", "new")
	// Privileges are those of the statement.
	h.as("app", "right").wants(403, 1142, "POST", "/v1/query", "SELECT * FROM mysql.user")
	h.as("app", "right").wants(403, 1044, "POST", "/v1/query?db=t", "SELECT 1")
	h.as("app", "right").wants(403, 1227, "POST", "/v1/query", "SET GLOBAL max_connections = 5")

	// One connection at a time.
	one := h.as("one", "right")
	res, err := one.send(t.Context(), "POST", "/v1/session", nil)
	if err != nil || res.StatusCode != 201 {
		t.Fatal(err, res)
	}
	res.Body.Close()
	one.wants(429, 1226, "POST", "/v1/query", "SELECT 1")

	// Cookies.
	anonymous := h.as("", "")
	login := func(user, password string) string {
		t.Helper()
		res, err := anonymous.with("Content-Type", "application/json").send(t.Context(), "POST", "/v1/login", strings.NewReader(fmt.Sprintf(`{"user":%q,"password":%q}`, user, password)))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != 200 {
			return ""
		}
		k := res.Cookies()[0]
		if k.Name != "sqlots" || !k.HttpOnly || k.SameSite != http.SameSiteStrictMode || k.Path != "/" || len(k.Value) != 43 || k.Domain != "" {
			t.Errorf("%+v", k)
		}
		return k.Name + "=" + k.Value
	}
	if login("app", "wrong") != "" || login("locked", "right") != "" {
		t.Error("logged in")
	}
	cookie := login("app", "right")
	by := anonymous.with("Cookie", cookie)
	if got := by.query1("SELECT CURRENT_USER()"); got != "app@%" {
		t.Error(got)
	}
	anonymous.with("Cookie", "sqlots=guess").wants(401, 1045, "POST", "/v1/query", "SELECT 1")
	anonymous.with("Cookie", "__Host-"+cookie).wants(401, 1045, "POST", "/v1/query", "SELECT 1")
	by.wants(204, 0, "POST", "/v1/logout", "")
	by.wants(401, 1045, "POST", "/v1/query", "SELECT 1")
	for _, change := range []string{"ALTER USER app ACCOUNT LOCK", "ALTER USER app IDENTIFIED BY 'other'", "DROP USER app"} {
		c.exec("ALTER USER app IDENTIFIED BY 'right' ACCOUNT UNLOCK")
		by = anonymous.with("Cookie", login("app", "right"))
		by.query1("SELECT 1")
		c.exec(change)
		if status, _ := by.do("POST", "/v1/query", "SELECT 1"); status != 401 && status != 403 {
			t.Errorf("%s: %d", change, status)
		}
		h.as("app", "right").wants(map[bool]int{true: 403, false: 401}[strings.HasSuffix(change, " LOCK")], map[bool]int{true: 3118, false: 1045}[strings.HasSuffix(change, " LOCK")], "POST", "/v1/query", "SELECT 1")
	}

	// Pages of other origins.
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.com"} {
		for _, path := range []string{"/v1/query", "/v1/load", "/v1/login", "/v1/session"} {
			h.with(name, value).wants(403, 0, "POST", path, "SELECT 1")
		}
	}
	h.with("Origin", h.base).wants(200, 0, "POST", "/v1/query", "SELECT 1")
	h.with("Host", "evil.com").wants(421, 0, "POST", "/v1/query", "SELECT 1")
	h.with("Host", "evil.com").wants(421, 0, "GET", "/healthz", "")
	h.with("Host", "localhost:1").wants(200, 0, "POST", "/v1/query", "SELECT 1")
	// A browser is not made to ask for a password.
	for site, want := range map[string]string{"": `Basic realm="sqlots", charset="UTF-8"`, "same-origin": ""} {
		x := anonymous
		if site != "" {
			x = x.with("Sec-Fetch-Site", site)
		}
		res, err := x.send(t.Context(), "POST", "/v1/query", strings.NewReader("SELECT 1"))
		if err != nil || res.Header.Get("WWW-Authenticate") != want || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Error(err, res.Header)
		}
		res.Body.Close()
	}
	// All seats but that of administrators.
	c.exec("CREATE USER app")
	c.exec("SET GLOBAL max_connections = " + strconv.Itoa(s.OpenConnections()))
	h.as("app", "").wants(429, 1040, "POST", "/v1/query", "SELECT 1")
	h.wants(200, 0, "POST", "/v1/query", "SELECT 1")
}

// query1 is query without a database.
func (h *httpClient) query1(text string) string {
	h.t.Helper()
	status, body := h.do("POST", "/v1/query?format=tsv", text)
	if status != 200 {
		h.t.Fatalf("%s: %d %s", clip(text), status, body)
	}
	return strings.TrimSuffix(body, "\n")
}

// TestHTTPS: with a certificate there is TLS only, and accounts may require it.
func TestHTTPS(t *testing.T) {
	cert, key := selfSigned(t)
	s, c, h := startHTTP(t, func(c *server.Config) { c.TLSCert, c.TLSKey = cert, key })
	c.exec("CREATE USER ssl_only IDENTIFIED BY 'right' REQUIRE SSL")
	c.exec("CREATE USER cert IDENTIFIED BY 'right' REQUIRE X509")
	c.exec("SET GLOBAL require_secure_transport = ON")
	if status, _ := h.do("POST", "/v1/query", "SELECT 1"); status != 400 {
		t.Error("without TLS:", status)
	}
	h.base = "https://" + s.HTTPAddr()
	if got := h.as("ssl_only", "right").query1("SELECT 1"); got != "1" {
		t.Error(got)
	}
	h.as("cert", "right").wants(401, 1045, "POST", "/v1/query", "SELECT 1")
	res, err := h.as("", "").with("Content-Type", "application/json").send(t.Context(), "POST", "/v1/login", strings.NewReader(`{"user":"root"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if k := res.Cookies()[0]; k.Name != "__Host-sqlots" || !k.Secure || res.TLS == nil {
		t.Errorf("%+v", k)
	}
	if err := c.c.PingContext(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestHTTPAddresses: HTTP without TLS is for this machine, unless a flag allows more.
func TestHTTPAddresses(t *testing.T) {
	for _, change := range []func(*server.Config){
		func(c *server.Config) { c.HTTP.Listen = "0.0.0.0:0" },
		func(c *server.Config) { c.HTTP.Listen = ":0" },
		func(c *server.Config) { c.HTTP.Listen, c.HTTP.Insecure, c.SkipGrantTables = "0.0.0.0:0", true, true },
		func(c *server.Config) { c.HTTP.Listen = "127.0.0.1:x" },
	} {
		cfg := server.Config{InMemory: true, Listen: "127.0.0.1:0"}
		change(&cfg)
		if s, err := server.Start(t.Context(), cfg); err == nil {
			t.Errorf("%+v has started", cfg.HTTP)
			_ = s.Stop(0)
		}
	}
}

// TestHTTPCancel: by the client that goes, by its id, and by KILL.
func TestHTTPCancel(t *testing.T) {
	s, c, h := startHTTP(t)
	c.exec("CREATE USER app, boss")
	c.exec("GRANT CONNECTION_ADMIN ON *.* TO boss")
	runs := func(n string) {
		t.Helper()
		eventually(t, func() bool {
			got, err := c.query("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'")
			return err == nil && got == n
		})
	}
	app := h.as("app", "")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if res, err := app.send(ctx, "POST", "/v1/query", strings.NewReader("SELECT SLEEP(100)")); err == nil {
			res.Body.Close()
		}
	}()
	runs("1")
	cancel()
	runs("0")
	// start runs a sleep with an id in the background.
	start := func(id string) <-chan string {
		done := make(chan string, 1)
		go func() {
			status, body := app.with("X-Sqlots-Query-Id", id).do("POST", "/v1/query", "SELECT SLEEP(100)")
			done <- fmt.Sprint(status, " ", body)
		}()
		runs("1")
		return done
	}
	interrupted := func(done <-chan string) {
		t.Helper()
		if got := <-done; !strings.HasPrefix(got, `400 {"error":{"code":1317,`) {
			t.Error(got)
		}
	}
	q := start("mine")
	app.with("X-Sqlots-Query-Id", "mine").wants(409, 0, "POST", "/v1/query", "SELECT 1")
	c.exec("CREATE USER other")
	h.as("other", "").wants(404, 0, "DELETE", "/v1/query/mine", "")
	app.wants(404, 0, "DELETE", "/v1/query/guess", "")
	runs("1")
	app.wants(204, 0, "DELETE", "/v1/query/mine", "")
	interrupted(q)
	q = start("mine")
	h.as("boss", "").wants(204, 0, "DELETE", "/v1/query/mine", "")
	interrupted(q)
	for _, kill := range []string{"KILL QUERY ", "KILL "} {
		q = start("x")
		id, err := c.query("SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'")
		if err != nil {
			t.Fatal(err)
		}
		c.exec(kill + id)
		interrupted(q)
	}
	eventually(t, func() bool { return s.OpenConnections() == 1 })
}

// TestHTTPSessions: transactions over several requests.
func TestHTTPSessions(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	_, c, h := startHTTP(t)
	c.exec("CREATE TABLE a (id INT PRIMARY KEY)")
	c.exec("CREATE USER app")
	id := h.session()
	x := h.with("X-Sqlots-Session", id)
	for _, q := range []string{"USE t", "SET @v = 7, sql_mode = ''", "CREATE TEMPORARY TABLE tmp (n INT)", "INSERT INTO tmp VALUES (3)", "START TRANSACTION", "INSERT INTO a VALUES (1)"} {
		if status, body := x.do("POST", "/v1/query", q); status != 200 {
			t.Fatal(q, body)
		}
	}
	if got := x.query1("SELECT @v, @@sql_mode, n, (SELECT COUNT(*) FROM a), DATABASE() FROM tmp"); got != "7\t\t3\t1\tt" {
		t.Errorf("%q", got)
	}
	c.rows("0", "SELECT COUNT(*) FROM a")
	// With an answer, its session and its connection are free.
	c.exec("CREATE USER one WITH MAX_USER_CONNECTIONS 1")
	for range 100 {
		x.query1("SELECT REPEAT('x', 70000)")
		h.as("one", "").query1("SELECT 1")
	}
	h.as("app", "").with("X-Sqlots-Session", id).wants(404, 0, "POST", "/v1/query", "SELECT 1")
	h.with("X-Sqlots-Session", "guess").wants(404, 0, "POST", "/v1/query", "SELECT 1")
	h.as("app", "").wants(404, 0, "DELETE", "/v1/session/"+id, "")
	h.wants(204, 0, "DELETE", "/v1/session/"+id, "")
	x.wants(404, 0, "POST", "/v1/query", "SELECT 1")
	c.rows("0", "SELECT COUNT(*) FROM a")
	x = h.with("X-Sqlots-Session", h.session())
	conn := x.query("SELECT CONNECTION_ID()")
	c.exec("KILL " + conn)
	eventually(t, func() bool { status, _ := x.do("POST", "/v1/query", "SELECT 1"); return status == 404 })
	// One statement at a time; the end of a session interrupts it.
	id = h.session()
	x = h.with("X-Sqlots-Session", id)
	done := make(chan int, 1)
	go func() {
		status, _ := x.do("POST", "/v1/query", "SELECT SLEEP(100)")
		done <- status
	}()
	eventually(t, func() bool {
		got, err := c.query("SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(100)'")
		return err == nil && got == "1"
	})
	x.wants(409, 0, "POST", "/v1/query", "SELECT 1")
	h.wants(204, 0, "DELETE", "/v1/session/"+id, "")
	if status := <-done; status != 400 {
		t.Error(status)
	}
	// As many as an account may have.
	app := h.as("app", "")
	for range 64 {
		app.session()
	}
	app.wants(429, 0, "POST", "/v1/session", "")
}

// TestHTTPIdleSessions: sessions without requests end, and what they have not committed is undone.
func TestHTTPIdleSessions(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	s, c, h := startHTTP(t, func(c *server.Config) { c.HTTP.SessionIdle = time.Second })
	c.exec("CREATE TABLE a (id INT PRIMARY KEY)")
	h.with("X-Sqlots-Session", h.session()).query("BEGIN; INSERT INTO a VALUES (3)", "multi=1")
	for range 8 {
		h.session()
	}
	eventually(t, func() bool { return s.OpenConnections() == 1 })
	c.rows("0", "SELECT COUNT(*) FROM a")
}

// TestHTTPLoad: bodies become rows.
func TestHTTPLoad(t *testing.T) {
	_, c, h := startHTTP(t)
	c.exec("CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20), n INT NOT NULL DEFAULT 5)")
	c.exec("CREATE USER app, reader")
	c.exec("GRANT INSERT, SELECT ON t.a TO app")
	c.exec("GRANT SELECT ON t.a TO reader")
	load := func(want, params, body string) {
		t.Helper()
		status, got := h.as("app", "").do("POST", "/v1/load?table=t.a&"+params, body)
		got, _, _ = strings.Cut(got, `,"elapsed_ms"`)
		if status != 200 || got != want {
			t.Errorf("%s: %d %s, want %s", clip(body), status, got, want)
		}
	}
	load(`{"rows":2,"affected_rows":2,"rejects":[]`, "format=csv&columns=id,v", "1,NULL\n2,\"a \"\"b\"\"\nc\"\n")
	load(`{"rows":1,"affected_rows":1,"rejects":[]`, "format=csv", "V,ID\r\nx,3\r\n")
	load(`{"rows":1,"affected_rows":1,"rejects":[]`, "format=csv&null=&columns=id,v,n", "4,,7\n")
	load(`{"rows":1,"affected_rows":1,"rejects":[]`, "format=tsv", "5\t\\N\t8\n")
	load(`{"rows":2,"affected_rows":2,"rejects":[]`, "format=ndjson", "{\"id\":6,\"v\":\"\u00e9\"}\n\n{\"id\":7,\"n\":1,\"v\":[1]}")
	load(`{"rows":1,"affected_rows":1,"rejects":[{"line":3,"code":3140,"message":"unknown column 'x'"},{"line":5,"code":1062,"message":"Duplicate entry '8' for key 'a.PRIMARY'"}]`, "format=ndjson&max_rejects=5", "\n{\"id\":8}\n{\"x\":1}\n\n{\"id\":8}\n")
	load(`{"rows":1,"affected_rows":1,"rejects":[]`, "format=ndjson&ignore_unknown=1", "{\"id\":9,\"x\":1}\n")
	load(`{"rows":0,"affected_rows":0,"rejects":[]`, "format=csv", "")
	c.rows(`1,NULL,5|2,a "b"`+"\nc,5|3,x,5|4,NULL,7|5,NULL,8|6,\u00e9,5|7,[1],1|8,NULL,5|9,NULL,5", "SELECT * FROM a ORDER BY id")
	h.wants(200, 0, "POST", "/v1/load?table=t.a&format=tsv&replace=1", "9\tnine\t9\n")
	h.as("reader", "").wants(403, 1142, "POST", "/v1/load?table=t.a&format=tsv", "10\tx\t1\n")
	c.exec("CREATE USER nothing")
	h.as("nothing", "").wants(403, 1142, "POST", "/v1/load?table=t.a&format=tsv", "10\tx\t1\n")
	h.wants(404, 1146, "POST", "/v1/load?table=t.none&format=tsv", "10\tx\t1\n")
	h.wants(400, 0, "POST", "/v1/load?table=t.a", "10\tx\t1\n")
	h.wants(400, 0, "POST", "/v1/load?table=a&format=csv", "10\tx\t1\n")
	h.wants(400, 0, "POST", "/v1/load?table=t.a&format=csv&columns=id,w", "10,x\n")
	h.wants(400, 0, "POST", "/v1/load?table=t.a&format=csv&max_rejects=10001", "10,x\n")
	h.wants(400, 1366, "POST", "/v1/load?table=t.a&format=csv&columns=id", "10\nx\n")
	h.wants(400, 3140, "POST", "/v1/load?table=t.a&format=ndjson", "{\"id\":10}\n[]\n")
	h.as("", "").wants(401, 1045, "PUT", "/v1/load?table=t.a&format=ndjson", "{\"id\":10}\n")
	c.rows("0", "SELECT COUNT(*) FROM a WHERE id = 10")
	// A body that is cut loads nothing.
	cut, pipe := io.Pipe()
	go func() {
		_, _ = io.WriteString(pipe, "10,x\n")
		_ = pipe.CloseWithError(errors.New("cut"))
	}()
	if res, err := h.send(t.Context(), "POST", "/v1/load?table=t.a&format=csv&columns=id,v", cut); err == nil {
		t.Error(res.Status)
	}
	// A key is used once, by each account.
	k := h.with("Idempotency-Key", "k\u0021'\\")
	for _, want := range []string{`{"rows":1,`, `{"rows":0,"affected_rows":0,"loaded_before":true,`} {
		if status, got := k.do("POST", "/v1/load?table=t.a&format=csv&columns=id", "11\n"); status != 200 || !strings.HasPrefix(got, want) {
			t.Error(status, got)
		}
	}
	if status, got := h.as("app", "").with("Idempotency-Key", "k\u0021'\\").do("POST", "/v1/load?table=t.a&format=csv&columns=id", "12\n"); status != 200 || !strings.HasPrefix(got, `{"rows":1,`) {
		t.Error(status, got)
	}
	// By gzip and in bulk.
	c.exec("CREATE TABLE big (id INT PRIMARY KEY, v VARCHAR(200))")
	lines := testflag.Rounds(20_000, 50_000, 5_000_000) // 1 GB
	body, out := io.Pipe()
	go func() {
		z, _ := gzip.NewWriterLevel(out, gzip.BestSpeed)
		w := bufio.NewWriter(z)
		text := strings.Repeat("x", 190)
		for i := range lines {
			_, _ = fmt.Fprintf(w, "%d\t%s\n", i, text)
		}
		_ = out.CloseWithError(errors.Join(w.Flush(), z.Close()))
	}()
	res, err := h.with("Content-Type", "text/tab-separated-values").send(t.Context(), "PUT", "/v1/load?table=t.big", body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, _ := io.ReadAll(res.Body); !strings.HasPrefix(string(got), fmt.Sprintf(`{"rows":%d,`, lines)) {
		t.Errorf("%s", got)
	}
	c.rows("0", "SELECT COUNT(*) FROM a WHERE id = 10")
	// What a query wrote can be loaded.
	c.exec("CREATE TABLE b LIKE a")
	for _, format := range []string{"csv", "tsv"} {
		_, text := h.do("POST", "/v1/query?db=t&format="+format, "SELECT * FROM a ORDER BY id")
		h.wants(200, 0, "POST", "/v1/load?replace=1&table=t.b&format="+format, text)
		c.rows("0", "SELECT COUNT(*) FROM a NATURAL LEFT JOIN b WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.id = a.id AND b.v <=> a.v AND b.n = a.n)")
	}
}

// TestHTTPLoadMapping: fields go into other columns than those of their names, or nowhere.
func TestHTTPLoadMapping(t *testing.T) {
	_, c, h := startHTTP(t)
	c.exec("CREATE TABLE a (id INT PRIMARY KEY, `x,y` VARCHAR(20), ok BOOLEAN)")
	load := func(params map[string]string, body string) {
		t.Helper()
		q := url.Values{"db": {"t"}, "table": {"a"}}
		for k, v := range params {
			q.Set(k, v)
		}
		h.wants(200, 0, "POST", "/v1/load?"+q.Encode(), body)
	}
	load(map[string]string{"format": "csv", "header": "1", "columns": `["id",null,"x,y","ok"]`, "booleans": "1"}, "nr,,text,flag\n1,2,a,true\n2,3,b,FALSE\n3,4,NULL,NULL\n")
	load(map[string]string{"format": "tsv", "columns": "id,,ok", "booleans": "1", "null": ""}, "4\tx\t\n5\ty\ttrue\n6\tz\t7\n")
	load(map[string]string{"format": "ndjson", "fields": `["Nr","x"]`, "columns": `["id","x,y"]`, "ignore_unknown": "1"}, `{"Nr": 7, "x": "c", "id": 70, "more": 1}`)
	c.rows("1,a,1|2,b,0|3,NULL,NULL|4,NULL,NULL|5,NULL,1|6,NULL,7|7,c,NULL", "SELECT * FROM a ORDER BY id")
	for _, params := range []string{"format=csv&booleans=1&columns=id,ok", "format=csv&columns=id,ok"} {
		status, got := h.do("POST", "/v1/load?table=t.a&"+params, "8,yes\n")
		if status != 400 || !strings.Contains(got, `"code":1366`) {
			t.Error(params, status, got)
		}
	}
	for _, params := range []string{"format=csv&fields=id", "format=ndjson&fields=id", "format=ndjson&fields=a,b&columns=id", "format=csv&columns=[id]", "format=csv&booleans=maybe"} {
		h.wants(400, 0, "POST", "/v1/load?table=t.a&"+params, "8,1\n")
	}
	// A body that zstd has compressed, and one that looks so.
	var body bytes.Buffer
	z, err := zstd.NewWriter(&body)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(z, "\ufeffid,ok\n8,1\n")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	h.wants(200, 0, "POST", "/v1/load?table=t.a&format=csv", body.String())
	h.wants(400, 0, "POST", "/v1/load?table=t.a&format=csv", "\x28\xb5\x2f\xfd, and what is not compressed")
	c.rows("1", "SELECT ok FROM a WHERE id = 8")
}

// TestHTTPStop: what runs may end, then it is interrupted; sessions do not hold the server.
func TestHTTPStop(t *testing.T) {
	testflag.Normal(t)
	for _, grace := range []time.Duration{10 * time.Second, 0} {
		s, dsn := startOnce(t, func(c *server.Config) { c.HTTP.Listen = "127.0.0.1:0" })
		c, h := dial(t, dsn), clientOf(t, s)
		h.with("X-Sqlots-Session", h.session()).query("BEGIN")
		done := make(chan string, 1)
		go func() {
			status, body := h.do("POST", "/v1/query?format=tsv", "SELECT SLEEP("+map[bool]string{true: "0.3", false: "100"}[grace > 0]+")")
			done <- fmt.Sprint(status, " ", body)
		}()
		eventually(t, func() bool {
			got, err := c.query("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'")
			return err == nil && got == "1"
		})
		c.close()
		if err := s.Stop(grace); err != nil {
			t.Error(err)
		}
		want := "200 0\n"
		if grace == 0 {
			want = `503 {"error":{"code":1053,`
		}
		if got := <-done; !strings.HasPrefix(got, want) {
			t.Errorf("grace %s: %s", grace, got)
		}
		if nc, err := net.Dial("tcp", s.HTTPAddr()); err == nil {
			nc.Close()
			t.Error("it still listens")
		}
	}
}
