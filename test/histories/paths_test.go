package histories

// registerTable has all that registers are read by. n is the version, w the name of
// the last write, t both as words. b sums up to zero over all rows.
const registerTable = `CREATE TABLE reg (k INT PRIMARY KEY, n BIGINT NOT NULL, w BIGINT NOT NULL, g INT NOT NULL, u INT NOT NULL, b BIGINT NOT NULL, t VARCHAR(60) NOT NULL,
	KEY by_n (n), KEY by_g (g, n) INCLUDE (w, b), UNIQUE KEY by_u (u), UNIQUE KEY by_w (w), KEY by_d (n DESC, w DESC), SEARCH INDEX s (k, n, w, g, u, b, t TEXT))`

// registerPaths read versions: k, n and w, followed by the same of another path, or by
// t.
var registerPaths = []path{
	{"primary key", "SELECT k,n,w FROM reg WHERE k={k}", []string{"reg@PRIMARY"}, "k"},
	{"list of primary keys", "SELECT k,n,w FROM reg FORCE INDEX (PRIMARY) WHERE k IN ({ks})", []string{"multi-point get on reg@PRIMARY"}, "ks"},
	{"range of the primary key", "SELECT k,n,w FROM reg FORCE INDEX (PRIMARY) WHERE k BETWEEN {lo} AND {hi}", []string{"range scan on reg@PRIMARY"}, "range"},
	{"full scan", "SELECT k,n,w FROM reg FORCE INDEX (PRIMARY)", []string{"full scan on reg@PRIMARY"}, "all"},
	{"index join", "SELECT k,n,w FROM reg FORCE INDEX (by_n) WHERE n>=0", []string{"index scan on reg@by_n"}, "all"},
	{"covering index", "SELECT k,n,w FROM reg FORCE INDEX (by_g) WHERE g={g}", []string{"covering index scan on reg@by_g"}, "gs"},
	{"index join by its first column", "SELECT k,n,w,t FROM reg FORCE INDEX (by_g) WHERE g={g}", []string{"index scan on reg@by_g"}, "gs"},
	{"descending index", "SELECT k,n,w FROM reg FORCE INDEX (by_d) WHERE n>=0", []string{"covering index scan on reg@by_d"}, "all"},
	{"unique index", "SELECT k,n,w FROM reg FORCE INDEX (by_u) WHERE u IN ({us})", []string{"reg@by_u"}, "ks"},
	{"unique index of writes", "SELECT k,n,w FROM reg FORCE INDEX (by_w) WHERE w IN ({ws})", []string{"reg@by_w"}, ""},
	{"range of the unique index of writes", "SELECT k,n,w FROM reg FORCE INDEX (by_w) WHERE w>-1000", []string{"reg@by_w"}, "all"},
}

// searchPaths are by the search index alone.
var searchPaths = []path{
	{"search: equality", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE k={k}", []string{"covering search on reg@s"}, "k"},
	{"search: list", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE u IN ({us})", []string{"covering search on reg@s"}, "ks"},
	{"search: range", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE n>=0", []string{"covering search on reg@s"}, "all"},
	{"search: range of keys", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE k BETWEEN {lo} AND {hi}", []string{"covering search on reg@s"}, "range"},
	{"search: group with look-up", "SELECT k,n,w,t FROM reg FORCE INDEX (s) WHERE g={g}", []string{"-> search on reg@s"}, "gs"},
	{"search: group or key", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE g={g} OR k={k}", []string{"search on reg@s"}, ""},
	{"search: writes", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE w IN ({ws})", []string{"covering search on reg@s"}, ""},
	{"search: newest", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE n>=0 ORDER BY n DESC LIMIT 5", []string{"covering search on reg@s of the first"}, ""},
	{"search: all in order", "SELECT k,n,w FROM reg FORCE INDEX (s) ORDER BY w LIMIT 1000", []string{"reg@s"}, "all"},
	{"search: word of one", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE MATCH(t) AGAINST (CONCAT('+k',{k}) IN BOOLEAN MODE)", []string{"search on reg@s"}, "k"},
	{"search: word of all", "SELECT k,n,w,t FROM reg FORCE INDEX (s) WHERE MATCH(t) AGAINST ('every' IN BOOLEAN MODE)", []string{"search on reg@s"}, "all"},
	{"search: word of a write", "SELECT k,n,w,t FROM reg FORCE INDEX (s) WHERE MATCH(t) AGAINST (CONCAT('w',{w}))", []string{"search on reg@s"}, ""},
	{"search: greatest of each", "SELECT k,MAX(n),MAX(w) FROM reg FORCE INDEX (s) WHERE g={g} GROUP BY k", []string{"aggregates in index"}, "gs"},
}

// doublePaths read by two paths in one statement.
var doublePaths = []path{
	{"join: search, primary key", "SELECT a.k,a.n,a.w,b.k,b.n,b.w FROM reg a FORCE INDEX (s) JOIN reg b FORCE INDEX (PRIMARY) ON a.k=b.k WHERE a.g={g}",
		[]string{"search on reg a@s", "reg b@PRIMARY"}, "gs"},
	{"join: index, search", "SELECT a.k,a.n,a.w,b.k,b.n,b.w FROM (SELECT k,n,w FROM reg FORCE INDEX (by_d) WHERE n>=0 LIMIT 1000) a JOIN (SELECT k,n,w FROM reg FORCE INDEX (s) LIMIT 1000) b ON a.k=b.k",
		[]string{"reg@by_d", "search on reg@s"}, "all"},
	{"join: index join, covering index", "SELECT a.k,a.n,a.w,b.k,b.n,b.w FROM (SELECT k,n,w FROM reg FORCE INDEX (by_n) WHERE n>=0 LIMIT 1000) a JOIN reg b FORCE INDEX (by_g) ON a.k=b.k WHERE b.g={g}",
		[]string{"reg@by_n", "reg b@by_g"}, "gs"},
	{"union: search, index join", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE g={g} UNION ALL SELECT k,n,w FROM reg FORCE INDEX (by_n) WHERE n>=0 AND g={g}",
		[]string{"search on reg@s", "index scan on reg@by_n"}, "gs"},
	{"union: full scan, search", "SELECT k,n,w FROM reg FORCE INDEX (PRIMARY) UNION SELECT k,n,w FROM reg FORCE INDEX (s)",
		[]string{"full scan on reg@PRIMARY", "search on reg@s"}, "all"},
	{"union: search, primary key", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE k={k} UNION ALL SELECT k,n,w FROM reg WHERE k={k}",
		[]string{"search on reg@s", "reg@PRIMARY"}, "k"},
	{"subqueries: search, unique index", "SELECT k,n,w,k,(SELECT n FROM reg FORCE INDEX (by_u) WHERE u={u}),(SELECT w FROM reg FORCE INDEX (s) WHERE u={u}) FROM reg FORCE INDEX (s) WHERE k={k}",
		[]string{"reg@by_u", "search on reg@s"}, "k"},
	{"subquery of IN: search, index", "SELECT k,n,w FROM reg FORCE INDEX (s) WHERE k IN (SELECT k FROM reg FORCE INDEX (by_g) WHERE g={g})",
		[]string{"search on reg@s", "reg@by_g"}, "gs"},
}

// sumPaths count the rows and sum up b and n, by one path or two.
var sumPaths = []path{
	{"sums of the search index", "SELECT COUNT(*),SUM(b),SUM(n) FROM reg FORCE INDEX (s)", []string{"aggregates in index"}, "all"},
	{"sums of a group in the search index", "SELECT COUNT(*)+(SELECT COUNT(*) FROM reg FORCE INDEX (s) WHERE g<>{g}),SUM(b)+(SELECT SUM(b) FROM reg FORCE INDEX (PRIMARY) WHERE g<>{g}),SUM(n)+(SELECT SUM(n) FROM reg FORCE INDEX (by_g) WHERE g<>{g}) FROM reg FORCE INDEX (s) WHERE g={g}",
		[]string{"search on reg@s", "reg@by_g", "reg@PRIMARY"}, "all"},
	{"sums of the primary key", "SELECT COUNT(*),SUM(b),SUM(n) FROM reg FORCE INDEX (PRIMARY)", []string{"full scan on reg@PRIMARY"}, "all"},
	{"sums of a covering index", "SELECT COUNT(*),SUM(b),SUM(n) FROM reg FORCE INDEX (by_g) WHERE g>=0", []string{"covering index scan on reg@by_g"}, "all"},
	{"sums of search index and primary key", "SELECT c,b,n,(SELECT COUNT(*) FROM reg FORCE INDEX (PRIMARY)),(SELECT SUM(b) FROM reg FORCE INDEX (PRIMARY)),(SELECT SUM(n) FROM reg FORCE INDEX (by_d) WHERE n>=0) FROM (SELECT COUNT(*) c,SUM(b) b,SUM(n) n FROM reg FORCE INDEX (s)) x",
		[]string{"aggregates in index", "reg@PRIMARY", "reg@by_d"}, "all"},
}

// listTables hold lists: txt has one in each row, elem each element in a row of its
// own, counted by head.
var listTables = []string{
	"CREATE TABLE txt (k INT PRIMARY KEY, c INT NOT NULL, s VARCHAR(6000) NOT NULL, KEY by_c (c), KEY by_s (s(20), c), SEARCH INDEX x (k, c, s))",
	"CREATE TABLE head (l INT PRIMARY KEY, n INT NOT NULL)",
	"CREATE TABLE elem (l INT, i INT, e BIGINT NOT NULL, PRIMARY KEY (l, i), UNIQUE KEY by_e (e), KEY by_l (l, i DESC) INCLUDE (e), SEARCH INDEX x (l, i, e))",
}

var textPaths = []path{
	{"primary key", "SELECT k,s FROM txt FORCE INDEX (PRIMARY) WHERE k IN ({ks})", []string{"txt@PRIMARY"}, "ks"},
	{"full scan", "SELECT k,s FROM txt FORCE INDEX (PRIMARY) WHERE k%100 IN ({rests})", []string{"full scan on txt@PRIMARY"}, "ks"},
	{"index", "SELECT k,s FROM txt FORCE INDEX (by_c) WHERE c>=0 AND k IN ({ks})", []string{"txt@by_c"}, "ks"},
	{"index of prefixes", "SELECT k,s FROM txt FORCE INDEX (by_s) WHERE s>=',' AND k IN ({ks})", []string{"txt@by_s"}, "ks"},
	{"search", "SELECT k,s FROM txt FORCE INDEX (x) WHERE k IN ({ks})", []string{"search on txt@x"}, "ks"},
	{"search: range of texts", "SELECT k,s FROM txt FORCE INDEX (x) WHERE s>='' AND k IN ({ks})", []string{"search on txt@x"}, "ks"},
}

var elementPaths = []path{
	{"primary key", "SELECT l,e FROM elem FORCE INDEX (PRIMARY) WHERE l IN ({ks}) ORDER BY l,i", []string{"elem@PRIMARY"}, "ks"},
	{"covering index", "SELECT l,e FROM elem FORCE INDEX (by_l) WHERE l IN ({ks}) ORDER BY l,i", []string{"elem@by_l"}, "ks"},
	{"unique index", "SELECT l,e FROM elem FORCE INDEX (by_e) WHERE e>0 AND l IN ({ks}) ORDER BY l,i", []string{"elem@by_e"}, "ks"},
	{"search", "SELECT l,e FROM elem FORCE INDEX (x) WHERE l IN ({ks}) ORDER BY l,i", []string{"search on elem@x"}, "ks"},
	{"search: range", "SELECT l,e FROM elem FORCE INDEX (x) WHERE e>0 AND l IN ({ks}) ORDER BY l,i LIMIT 100000", []string{"search on elem@x"}, "ks"},
}
