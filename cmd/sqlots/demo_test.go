package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// access is the path that the plan of each query of the scenario names.
var access = []string{
	`WHERE CellNumber = 234567 .*\n  -> range scan on CallRecordTable@PRIMARY in order `,
	`WHERE CalledNumber = 123456 .*\n  -> covering index scan on CallRecordTable@IndexOnBeCalledNumber in order `,
	`WHERE BaseStationNumber = 2 .*\n  -> covering index scan on CallRecordTable@IndexOnBaseStation1 in order `,
	`SELECT Duration FROM .*\n  -> covering index scan on CallRecordTable@IndexOnBaseStation2 `,
	`(?s)SELECT COUNT.*?\n *-> aggregate .*?-> covering index scan on CallRecordTable@IndexOnBaseStation2 `,
	`(?s)AGAINST \('\+antenna -repair' .*?-> search on BaseStation@Anything .*?\n *search: match\(`,
	`(?s)< 1000 ORDER BY metres;\n.*?-> covering search on BaseStation@Anything .*?\n *search: distance\(Place, \S+\) <= 1000 `,
	`(?s)LIMIT 3;\n.*?first in index: 3 by Height desc, BaseStationNumber\n *considered: Anything search .*?\n *considered: PRIMARY full `,
}

func TestDemo(t *testing.T) {
	before := demoDirs(t)
	code, out, errs := sqlots("demo", "--exit")
	if code != 0 || errs != "" {
		t.Fatalf("code %d: %s\n%s", code, errs, out)
	}
	if !strings.Contains(out, "All results are as expected.") || strings.Contains(out, "WRONG") {
		t.Errorf("got:\n%s", out)
	}
	for _, pattern := range access {
		if !regexp.MustCompile(pattern).MatchString(out) {
			t.Errorf("no match for %s in:\n%s", pattern, out)
		}
	}
	if after := demoDirs(t); after > before {
		t.Errorf("%d directories are left behind", after-before)
	}
}

func demoDirs(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "sqlots-demo-") {
			n++
		}
	}
	return n
}
