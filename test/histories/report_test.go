package histories

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/sqlots/sqlots/internal/histcheck"
)

// report counts findings and prints them.
func (r *run) report(found ...histcheck.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range found {
		r.findings++
		switch {
		case r.findings > *enough:
		case r.expected:
			r.t.Logf("found, after %d transactions: %s", r.done.Load(), f)
		default:
			r.t.Errorf("%s\n%s", f, describe(f.Txns))
		}
	}
}

// describe prints transactions with their statements and times.
func describe(txns []*histcheck.Txn) string {
	var b strings.Builder
	for _, x := range txns {
		fmt.Fprintf(&b, "%s, %s, %s, began %s, COMMIT asked %s, answered %s\n", x.Name, x.Level, [...]string{"rolled back", "committed", "not known whether committed"}[x.Outcome],
			seconds(x.Began), seconds(x.Ending), seconds(x.Ended))
		for _, s := range x.Steps {
			fmt.Fprintf(&b, "  %s to %s: %s", seconds(s.Asked), seconds(s.Given), s.SQL)
			if s.Path != "" {
				fmt.Fprintf(&b, " [%s]", s.Path)
			}
			if s.Answer != "" {
				fmt.Fprintf(&b, " => %s", s.Answer)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6fs", d.Seconds()) }

// progressEvery is how often a long run shows where it is.
const progressEvery = time.Minute

func (r *run) progress() {
	if now := r.now(); now > r.shown+progressEvery {
		r.shown = now
		r.summary()
	}
}

// summary says what was done.
func (r *run) summary() {
	d := r.now()
	r.mu.Lock()
	findings := r.findings
	r.mu.Unlock()
	r.t.Logf("%v: %d transactions (%.0f a second), %d rolled back, %d statements, %d reads checked, %d statements killed, %d changes of the schema, %d findings",
		d.Round(time.Millisecond), r.done.Load(), float64(r.done.Load())/d.Seconds(), r.rollbacks.Load(), r.statements.Load(), r.reads.Load(), r.killed.Load(), r.schemaChanges.Load(), findings)
	r.images()
}

// images says how many the store has: reads by them are another way than reads of
// the store.
func (r *run) images() {
	r.all("SHOW STATUS LIKE 'Sqlots_storage_image%'", func() {}, func(rows *sql.Rows) error {
		var name, text string
		err := rows.Scan(&name, &text)
		r.t.Logf("%s %s", name, text)
		return err
	})
}
