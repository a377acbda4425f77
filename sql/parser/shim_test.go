package parser

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sqlots/sqlots/sql/types"
)

// TestShims runs testdata/shims: the text that TiDB's parser gets in the place of
// a statement that it cannot read. `as it is`: nothing was rewritten.
func TestShims(t *testing.T) {
	datadriven.RunTest(t, "testdata/shims", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "shim" {
			return "unknown command " + d.Cmd
		}
		st := Statement{Text: d.Input}
		h := shim{src: d.Input, mode: types.DefaultSQLMode, st: &st}
		first := h.first()
		changed, err := h.repair()
		switch {
		case err != nil:
			return err.Error() + "\n"
		case st.Admin != nil:
			return "no statement of the parser\n"
		case !first && !changed:
			return "as it is\n"
		}
		return h.out() + "\n"
	})
}
