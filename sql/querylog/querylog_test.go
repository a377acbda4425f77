package querylog

import (
	"strings"
	"testing"
)

func TestHide(t *testing.T) {
	for _, text := range []string{
		"CREATE USER a IDENTIFIED BY 'topsecret'",
		"SELECT 1; CREATE USER a IDENTIFIED BY 'topsecret'",
		"SELECT 1;\n set password = 'topsecret'",
		"SET PASSWORD FOR a = PASSWORD('topsecret')",
		"/* x */ ALTER USER a IDENTIFIED WITH mysql_native_password BY 'topsecret' REPLACE 'topsecret'",
		"-- x\nALTER USER a IDENTIFIED BY \"topsecret\"",
		"PREPARE s FROM \"ALTER USER a IDENTIFIED BY 'topsecret'\"",
	} {
		if got := hide(text); strings.Contains(got, "topsecret") || !strings.Contains(got, "<secret>") {
			t.Errorf("%s: logged as %s", text, got)
		}
	}
	for _, text := range []string{
		"SELECT password FROM a WHERE b = 'shown'",
		"INSERT INTO a VALUES ('create user identified by', 'shown')",
		"UPDATE a SET password = 'shown'",
	} {
		if got := hide(text); got != text {
			t.Errorf("%s: logged as %s", text, got)
		}
	}
}
