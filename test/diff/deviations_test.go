package diff

import (
	"regexp"
	"slices"
	"strings"
)

// The generator or the comparison keeps away from what MariaDB 10.11 does
// otherwise than MySQL 8, which sqlots follows:
//
//   - TIME and DATETIME round their fractions in MySQL: the oracle's sql_mode
//     gets TIME_ROUND_FRACTIONAL.
//   - LPAD and RPAD with an empty pad are "" in MySQL, NULL in MariaDB; LOCATE of
//     "" from a position is the position in MySQL.
//   - A text that is no number is 1265 for a DOUBLE in MySQL, 1366 in MariaDB.
//   - NULL in a TIMESTAMP NOT NULL column is an error in MySQL.
//   - ORD, YEARWEEK and PERIOD_ADD are 32 bits in MariaDB here and there.
//   - NULL in arithmetic is a DOUBLE in MySQL.
//   - CAST(decimal AS CHAR) <> 0 and CAST(GREATEST(text, text) AS DECIMAL) compare
//     as numbers in MariaDB.
//   - Row comparisons over an outer join make MariaDB take it for an inner one.
//   - TIME_TO_SEC is an integer in MySQL; days up to 365 are 0000-00-00 there.
//   - FLOOR and CEIL of DOUBLE are DOUBLE in MySQL; literals in GROUP BY are no
//     positions when they are negative.
//   - CAST(x AS TIME) rounds in MySQL.
//   - MariaDB has decimals that are -0.
//   - A NOT NULL column without default that INSERT … ON DUPLICATE KEY UPDATE
//     leaves out is an error in MySQL at once.
//   - DISTINCT aggregates in the sums of ROLLUP add those of the groups up in
//     MariaDB.
//   - Several windows with orders of their own in one query give row numbers
//     and counts of another order there; PARTITION BY x ORDER BY x counts rows
//     that are peers one by one.
//   - ELT and FIELD over columns of an outer join make MariaDB take it for an
//     inner one.
//   - CAST and LEAST of zero dates differ under NO_ZERO_DATE.
//   - Invalid date literals in comparisons are errors in MySQL (1525).
//   - LN of what has no logarithm is an error in MySQL where rows are changed.
//   - A TEXT that ON DUPLICATE KEY UPDATE sets twice has bytes of both values in
//     MariaDB; "= DEFAULT" for a column without default is an error there only
//     if there is a duplicate, and in UPDATE also if no row is changed.

// tolerated reports errors that only one of two paths may give, since the
// order in which conditions are evaluated is not defined.
func tolerated(number uint16) bool {
	switch number {
	case 1265, 1366, 1690, 1292, 1365, 1264, 1139, 1242, 1267, 1271, 1270, 1441, errLogarithm:
		return true
	}
	return false
}

// onlyOracle reports errors that MariaDB alone gives: its ONLY_FULL_GROUP_BY
// knows fewer expressions, and takes aggregates of subqueries for its own.
func onlyOracle(number uint16) bool { return number == 1055 || number == 1140 }

// Reasons why a query goes along all paths but not to the oracle. The run
// prints how many queries each has kept away.
const (
	// MariaDB has NULL for them under NO_ZERO_DATE, also where they are only
	// taken apart.
	devZeroDate = "functions of zero dates"
	// It compares the numbers.
	devExtreme = "LEAST and GREATEST of texts as numbers"
	// It takes the outer join for an inner one.
	devOuter = "ELT, FIELD, INTERVAL() and MAKE_SET over an outer join"
	// Its rows come in the order of another window.
	devWindows = "windows of several orders"
	// It looks up 2 in an index for a = 1.5, and MIN(a) WHERE a > SQRT(0.5) is 2
	// although 1 is among the rows.
	devFraction = "an integer column and a constant fraction"
	// DATE'2020-01-01' > ANY (SELECT DATE'2020-02-29' FROM …) can be true there.
	devConstant = "ANY and ALL of a constant"
	// NULL IS UNKNOWN is false there.
	devRow = "IS of a comparison of rows"
	// It has no MEMBER OF, and a JSON column is a text there.
	devJSON = "conditions on documents"
	// The largest TIME is 838:59:59.999999 there.
	devTimeMax = "TIMEDIFF with a fraction"
	// It takes ASCII(x) for a number of two digits: the average is at most
	// 99.9999.
	devDigits = "AVG and quotients of ASCII, BIT_COUNT, HOUR, DIV, ROUND and NULLIF"
	// The quotient has nine digits and then zeros where the value that CASE and
	// its like have chosen has fewer digits than their type.
	devChosen = "AVG and quotients of CASE, IF, COALESCE, IFNULL, LEAST and GREATEST"
	// HOUR(x) is a number of two digits for CAST and CONCAT in temporary tables.
	devHourText = "texts of HOUR"
	// It compares with the index in the precision of the other side: 00:00:00 of
	// a DATETIME equals 00:00:00.123 of a DATETIME(3).
	devPrecision = "a join of DATETIME or TIME columns of different precision with a constant"
	// TIME of a subquery shows six digits of a fraction.
	devTimeOf = "TIME of a scalar subquery"
	// Years wrap around at 2**32.
	devIntervalYear = "INTERVAL of a BIGINT column in years"
	// A date of the year 0 with a time added is 0000-00-00 in MySQL, NULL there.
	devYearZero = "TIMESTAMP of a date minus a column of years"
	// It takes a NULL among the texts for its neighbour.
	devMakeSet = "MAKE_SET of NULL"
	// It compares the digits that a quotient shows, not those that it has.
	devQuotient = "comparison of a quotient"
	// It passes over a NULL among the values of such a CASE: x NOT IN (0.1, NULL)
	// is true there.
	// The same where TRUNCATE or MOD gives the values, for numbers beyond its type.
	devNotIn = "NOT IN of a CASE, of TRUNCATE or of MOD"
	// Over no rows of a join it takes the aggregate of a NOT NULL column for
	// not NULL.
	devHaving = "HAVING MAX(a) IS NOT NULL over all rows"
	// Over no rows of a join it gives the constant.
	devBits = "BIT_OR of a constant over all rows"
	// With an index on the YEAR, 10 in 10 BETWEEN k AND yr is 2010 there; without
	// one it is 10, as the manual has it.
	devYearBound = "a YEAR as a bound of BETWEEN"
	// a.yr = b.yr AND b.yr = 2155 finds no row.
	devYearEqual = "a YEAR that equals another and a constant"
	// It compares the fraction that the CAST takes off.
	devCastTime = "CAST of fractions of seconds AS TIME"
	// It keeps the capitals.
	devQuoteNull = "LOWER of QUOTE(NULL)"
	// Over no rows (SELECT MAX(a) …) > ANY (SELECT … WHERE o.a = …) is false, or NULL,
	// depending on the rest of the query.
	devScalarAny = "ANY and ALL of a scalar subquery"
	// It compares the bounds by the collation of the connection: if they are equal by that
	// one, it takes a value between them for equal to both.
	devTextBounds = "BETWEEN of texts that differ in case"
)

// deviation is the reason why a query is not run on the oracle, "" if it is.
func deviation(q *query) string {
	text := plain(q.text)
	switch {
	case q.apart != "":
		return q.apart
	case strings.Contains(text, "LEFT JOIN") && (strings.Contains(text, "ELT(") || strings.Contains(text, "FIELD(") || strings.Contains(text, "MAKE_SET(") || strings.Contains(text, "INTERVAL(")):
		return devOuter
	case strings.Contains(text, "MAKE_SET(") && strings.Contains(text, "NULL"):
		return devMakeSet
	case strings.Contains(text, "LOWER(QUOTE(NULL))"):
		return devQuoteNull
	case strings.Contains(text, "NOT IN (SELECT CASE "), strings.Contains(text, "NOT IN (SELECT TRUNCATE("), strings.Contains(text, "NOT IN (SELECT MOD("):
		return devNotIn
	case shortDigits.MatchString(text):
		return devDigits
	case chosen.MatchString(text):
		return devChosen
	case strings.Contains(text, "CAST(HOUR("), strings.Contains(text, "CONCAT(HOUR("):
		return devHourText
	case precision.MatchString(text) && fraction.MatchString(text):
		return devPrecision
	case strings.Contains(text, "TIME((SELECT"):
		return devTimeOf
	case intervalYear.MatchString(text):
		return devIntervalYear
	case yearZero.MatchString(text), yearZeroLess.MatchString(text):
		return devYearZero
	case zeroWindow.MatchString(text):
		return devZeroDate
	case notNull.MatchString(text) && !strings.Contains(text, "GROUP BY"):
		return devHaving
	case bitsOfConstant.MatchString(text) && !strings.Contains(text, "GROUP BY"):
		return devBits
	case equalBounds(text):
		return devTextBounds
	case yearBound.MatchString(text):
		return devYearBound
	case yearEqual.MatchString(text):
		return devYearEqual
	case quotient.MatchString(text):
		return devQuotient
	case scalarAny.MatchString(text):
		return devScalarAny
	}
	var windows []string
	for _, m := range windowOf.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(windows, m[1]) {
			windows = append(windows, m[1])
		}
	}
	if len(windows) > 1 {
		return devWindows
	}
	return ""
}

// equalBounds reports a BETWEEN of two different texts that are equal without regard to case.
func equalBounds(text string) bool {
	for _, m := range textBounds.FindAllStringSubmatch(text, -1) {
		if m[1] != m[2] && foldText(m[1]) == foldText(m[2]) {
			return true
		}
	}
	return false
}

var (
	textBounds     = regexp.MustCompile(`BETWEEN '([^']*)' AND '([^']*)'`)
	yearZero       = regexp.MustCompile(`TIMESTAMP\(\(?DATE'[0-9-]+' - INTERVAL [a-z0-9]+\.[a-z0-9]+ YEAR`)
	shortDigits    = regexp.MustCompile(`AVG\((DISTINCT )?(ASCII\(|BIT_COUNT\(|HOUR\(|ROUND\([0-9]+, (?:-|0\))|NULLIF\([0-9]+, |\([^()]* DIV )|\((ASCII|BIT_COUNT|HOUR)\([^()]*\) / `)
	yearZeroLess   = regexp.MustCompile(`DATE'[0-9-]+' - INTERVAL [a-z0-9]+\.yr YEAR\)* [-+] INTERVAL`)
	zeroWindow     = regexp.MustCompile(`MIN\([a-z0-9]+\.da\) OVER .* w\.c[0-9]+ (=|<>|!=|<|<=|>|>=) -?[0-9]`)
	chosen         = regexp.MustCompile(`(AVG|SUM)\((DISTINCT )?(CASE|IF|COALESCE|IFNULL|LEAST|GREATEST)\b|\b(END|(IF|COALESCE|IFNULL|LEAST|GREATEST)\([^()]*\)) / `)
	precision      = regexp.MustCompile(`\.(d[t36] = [a-z0-9]+\.d[t36]|t[m6] = [a-z0-9]+\.t[m6])`)
	fraction       = regexp.MustCompile(`\.(d[t36]|t[m6]) = '[0-9: -]+\.[0-9]+'|'[0-9: -]+\.[0-9]+' = [a-z0-9]+\.(d[t36]|t[m6])`)
	intervalYear   = regexp.MustCompile(`INTERVAL [a-z0-9]+\.(gi|bu|bi) (YEAR|QUARTER|MONTH)`)
	notNull        = regexp.MustCompile(`HAVING (MIN|MAX|SUM|AVG)\((DISTINCT )?[a-z0-9]+\.[a-z0-9]+\) IS NOT NULL`)
	bitsOfConstant = regexp.MustCompile(`BIT_(OR|AND|XOR)\([0-9.]+\)`)
	quotient       = regexp.MustCompile(`(=|<>|!=|<|<=|>|>=) \(SELECT (MIN|MAX|SUM|AVG)\(\(*[^()]* / `)
	// An AUTO_INCREMENT key that is set to the NULL of an expression is 0 there;
	// MySQL documents 1048 for columns that are NOT NULL.
	nullKey   = regexp.MustCompile(`ON DUPLICATE KEY UPDATE (.*, )?id = [^0-9-]`)
	yearBound = regexp.MustCompile(`BETWEEN ([a-z0-9]+\.yr AND|[^ ]+ AND [a-z0-9]+\.yr)`)
	yearEqual = regexp.MustCompile(`\.yr = [a-z0-9]+\.yr AND [a-z0-9]+\.yr = [0-9]`)
	scalarAny = regexp.MustCompile(`\(SELECT (MIN|MAX|SUM|AVG)\([^()]*\)[^()]*\) (=|<>|!=|<|<=|>|>=) (ANY|ALL) \(SELECT `)
	windowOf  = regexp.MustCompile(` OVER \(((?:PARTITION BY [a-z0-9.]+ )?(?:ORDER BY [a-z0-9., DESC]+)?)`)
)

var foldAccents = strings.NewReplacer("é", "e", "É", "e")

// foldText makes texts equal that are equal in a case-insensitive collation.
func foldText(s string) string {
	return strings.TrimRight(foldAccents.Replace(strings.ToLower(s)), " ")
}

// differsByDesign reports calls for which MariaDB 10.11 has another rule than
// MySQL 8, by the name, by an argument, or by an error that MySQL alone gives:
//
//   - JSON functions refuse bad documents, paths with wildcards and arguments
//     that are neither text nor JSON (3141, 3144, 3146, 3149, 3158), take
//     [last], and give back the document for a path that is not there.
//   - A literal that is no date is 1525 next to a date; PERIOD_ADD and
//     PERIOD_DIFF refuse what is no period (1210), REGEXP_* an empty pattern.
//   - GREATEST and LEAST of numbers and texts compare texts; BETWEEN, IN and
//     EXTRACT of TIME and of texts that are times; TIME + INTERVAL in days is
//     a date; casts of times to integers round.
//   - UNIX_TIMESTAMP and UNCOMPRESSED_LENGTH are 0 for what has none, DATE and
//     TIMESTAMP take zero dates, SHA2 of a NULL length is NULL.
func differsByDesign(form, text string, number uint16) bool {
	switch number {
	case 3141, 3144, 3146, 3149, 3158, 1525, 1210, 3685:
		return true
	}
	if strings.Contains(text, "TIME'") && !strings.Contains(text, "DATE") || strings.Contains(text, "TIMESTAMP'") {
		return true
	}
	for _, name := range []string{"JSON_", "GREATEST", "LEAST", "(# BETWEEN", "EXTRACT", "UNIX_TIMESTAMP", "UNCOMPRESSED_LENGTH", "DATE d", "TIMESTAMP d", "SHA2",
		"CONVERT_TZ", "REGEXP_", "PERIOD_", "TIME ", "TIMEDIFF", "TIME_FORMAT", "TIME_TO_SEC", "ADDTIME", "SUBTIME", "FROM_", "STR_TO_DATE", "CAST(# AS TIME",
		"LPAD", "RPAD", "HOUR", "MINUTE d", "SECOND d", "(# + INTERVAL # MICROSECOND", "FORMAT", "DATE_FORMAT", "SUBSTRING_INDEX", "CAST(# AS BINARY"} {
		if strings.HasPrefix(form, name) {
			return true
		}
	}
	return false
}
