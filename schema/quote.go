package schema

import "strings"

// OwnCode begins a comment, after its "/*", whose body is code for sqlots alone. To
// other servers it is code of a version that they never reach: MySQL versions end at
// 9.99.99, and MariaDB skips 50700 to 99999. Clients send such comments, while they
// drop others.
const OwnCode = "!99999 sqlots "

// QuoteName writes a name for a statement.
func QuoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// QuoteText is a string literal as definitions print it.
func QuoteText(s string) string {
	return "'" + strings.NewReplacer("\x00", `\0`, "\n", `\n`, "\r", `\r`, `\`, `\\`, "'", "''").Replace(s) + "'"
}
