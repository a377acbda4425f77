package infoschema

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// instrumentRows make the rows of the tables of instrumentTables; those without are
// empty.
var instrumentRows = map[string]func(q *query) error{
	"events_statements_summary_by_digest":                digestSummary,
	"events_statements_histogram_global":                 globalHistogram,
	"events_statements_histogram_by_digest":              digestHistograms,
	"events_statements_summary_global_by_event_name":     statementsGlobal,
	"events_statements_summary_by_account_by_event_name": func(q *query) error { return statementsBy(q, byAccount) },
	"events_statements_summary_by_user_by_event_name":    func(q *query) error { return statementsBy(q, byUser) },
	"events_statements_summary_by_host_by_event_name":    func(q *query) error { return statementsBy(q, byHost) },
	"events_statements_summary_by_thread_by_event_name":  statementsByThread,
	"events_statements_current":                          func(q *query) error { return statementEvents(q, true) },
	"events_statements_history":                          func(q *query) error { return statementEvents(q, false) },
	"events_errors_summary_global_by_error":              errorSummary,
	"table_io_waits_summary_by_table":                    tableUses,
	"table_io_waits_summary_by_index_usage":              indexUses,
	"objects_summary_global_by_type":                     objectUses,
	"prepared_statements_instances":                      preparedStatements,
	"memory_summary_global_by_event_name":                memorySummary,
	"error_log":                                          errorLog,
}

// resets are what TRUNCATE does to tables that have sums or events. Tables over the
// same numbers begin again together.
var resets = func() map[string]func(m *metrics.Server) {
	nothing := func(*metrics.Server) {}
	out := map[string]func(m *metrics.Server){
		"events_statements_summary_by_digest":   func(m *metrics.Server) { m.Digests.Reset() },
		"events_statements_histogram_by_digest": func(m *metrics.Server) { m.Digests.Reset() },
		"events_statements_histogram_global":    (*metrics.Server).ResetStatements,
		"events_statements_current":             (*metrics.Server).ResetHistory,
		"events_statements_history":             (*metrics.Server).ResetHistory,
		"events_statements_history_long":        nothing,
		"events_errors_summary_global_by_error": func(m *metrics.Server) { m.Errors.Reset() },
		"table_io_waits_summary_by_table":       func(m *metrics.Server) { m.Uses.Reset() },
		"table_io_waits_summary_by_index_usage": func(m *metrics.Server) { m.Uses.Reset() },
		"objects_summary_global_by_type":        func(m *metrics.Server) { m.Uses.Reset() },
		"table_lock_waits_summary_by_table":     nothing,
		"events_statements_summary_by_program":  nothing,
		"file_summary_by_event_name":            nothing,
		"file_summary_by_instance":              nothing,
		"prepared_statements_instances":         nothing,
		"host_cache":                            nothing,
	}
	for _, by := range []string{"global", "by_account", "by_user", "by_host", "by_thread"} {
		for _, kind := range []string{"events_waits", "events_stages", "events_transactions", "memory"} {
			out[kind+"_summary_"+by+"_by_event_name"] = nothing
		}
		out["events_statements_summary_"+by+"_by_event_name"] = (*metrics.Server).ResetStatements
		if by != "global" {
			out["events_errors_summary_"+by+"_by_error"] = nothing
		}
	}
	for _, kind := range []string{"waits", "stages", "transactions"} {
		for _, when := range []string{"current", "history", "history_long"} {
			out["events_"+kind+"_"+when] = nothing
		}
	}
	return out
}()

// measured makes a table one that has rows only while the server measures, and that
// TRUNCATE resets unless reset is nil.
func measured(t *table, reset func(m *metrics.Server)) *table {
	rows := t.rows
	t.reset = reset
	t.rows = func(q *query) error {
		if q.server.Metrics().Off() {
			return nil
		}
		return rows(q)
	}
	return t
}

// ps is a time in picoseconds, the unit of all timers.
func ps(d time.Duration) uint64 { return uint64(max(d, 0)) * 1000 }

// timer is a time with how often it was measured, as COUNT, SUM, MIN, AVG and MAX.
func timer(count uint64, sum, least, most time.Duration) []any {
	avg := uint64(0)
	if count > 0 {
		avg = ps(sum) / count
	}
	return []any{count, ps(sum), ps(least), avg, ps(most)}
}

// totals are the columns of statementCounters.
func totals(t *metrics.Totals) []any {
	out := append(timer(t.Count, t.Sum, t.Min, t.Max), ps(t.Lock), t.Errors, t.Warnings, t.Affected, t.Sent)
	for _, c := range []metrics.Counter{metrics.RowsExamined, metrics.CreatedTmpDiskTables, metrics.CreatedTmpTables, metrics.SelectFullJoin, metrics.SelectFullRangeJoin,
		metrics.SelectRange, metrics.SelectRangeCheck, metrics.SelectScan, metrics.SortMergePasses, metrics.SortRange, metrics.SortRows, metrics.SortScan} {
		out = append(out, t.Of(c))
	}
	return append(out, t.NoIndex, t.NoGood, uint64(0), t.MaxMemory, t.MaxMemory, uint64(0))
}

// emitAll is emit of several lists.
func (q *query) emitAll(lists ...[]any) error { return q.emit(slices.Concat(lists...)...) }

// eachDigest calls fn with the digests that have run, and that the query needs.
func (q *query) eachDigest(fn func(d *metrics.Digest, n *metrics.DigestNumbers) error) error {
	for _, d := range q.server.Metrics().Digests.List() {
		if d.Hash != "" && !q.wants(d.Hash, "DIGEST", "digest") || d.Schema != "" && !q.wants(d.Schema, "SCHEMA_NAME", "db") {
			continue
		}
		n := d.Numbers()
		if n.Totals.Count == 0 {
			continue
		}
		if err := fn(d, &n); err != nil {
			return err
		}
	}
	return nil
}

func digestSummary(q *query) error {
	return q.eachDigest(func(d *metrics.Digest, n *metrics.DigestNumbers) error {
		schema, text, sample := orNull(d.Schema), orNull(d.Text), any(nil)
		if d.Hash != "" {
			sample = q.shownText(n.Sample, n.SampleMode)
		}
		return q.emitAll([]any{schema, orNull(d.Hash), text}, totals(&n.Totals),
			[]any{micros(n.First), micros(n.Last), ps(n.Times.Quantile(0.95)), ps(n.Times.Quantile(0.99)), ps(n.Times.Quantile(0.999)), sample, micros(n.SampleSeen), ps(n.SampleTime)})
	})
}

// shownText is a text as others may see it, whole characters of it.
func (q *query) shownText(text string, mode uint32) string {
	text = q.server.HideSecrets(text, mode)
	for range utf8.UTFMax - 1 { // the text was cut
		if r, n := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || n != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return strings.ToValidUTF8(text, "?")
}

// histogram emits the buckets of a histogram after the columns of prefix; all: also
// those that are empty.
func (q *query) histogram(prefix []any, h *metrics.Histogram, all bool) (err error) {
	below := uint64(0)
	h.Buckets(func(i int, n uint64) bool {
		below += n
		if n == 0 && !all {
			return true
		}
		low, high := metrics.BucketBounds(i)
		quantile := 0.0
		if h.Count > 0 {
			quantile = float64(below) / float64(h.Count)
		}
		err = q.emitAll(prefix, []any{uint64(i), ps(low), ps(high), n, below, quantile})
		return err == nil
	})
	return err
}

func globalHistogram(q *query) error {
	h := q.server.Metrics().Global().Times()
	return q.histogram(nil, &h, true)
}

func digestHistograms(q *query) error {
	return q.eachDigest(func(d *metrics.Digest, n *metrics.DigestNumbers) error {
		return q.histogram([]any{orNull(d.Schema), orNull(d.Hash)}, &n.Times, false)
	})
}

// statementKinds emits the kinds of statements with their sums; all: also those that
// never ran.
func (q *query) statementKinds(prefix []any, n *metrics.Numbers, all bool) error {
	for _, c := range metrics.Commands() {
		t, _ := n.Totals(c)
		if t == nil {
			t = &metrics.Totals{}
		}
		if t.Count == 0 && !all || !q.wants(c.EventName(), "EVENT_NAME") {
			continue
		}
		if err := q.emitAll(prefix, []any{c.EventName()}, totals(t)); err != nil {
			return err
		}
	}
	return nil
}

func statementsGlobal(q *query) error {
	return q.statementKinds(nil, q.server.Metrics().Global(), true)
}

func statementsByThread(q *query) error {
	for _, s := range q.server.Metrics().Sessions() {
		if err := q.statementKinds([]any{s.ID}, s.Numbers(), false); err != nil {
			return err
		}
	}
	return nil
}

// grouping is how accounts are put together.
type grouping uint8

const (
	byAccount grouping = iota
	byUser
	byHost
)

// eachGroup calls fn with the accounts of each group and the columns that identify it.
// An account without a name has the numbers of many.
func (q *query) eachGroup(by grouping, fn func(name []any, list []metrics.Account) error) error {
	all := q.server.Metrics().Accounts()
	if by == byHost {
		slices.SortStableFunc(all, func(a, b metrics.Account) int { return cmp.Compare(a.Host, b.Host) })
	}
	for len(all) > 0 {
		first, n := all[0], 1
		for by != byAccount && n < len(all) && (by == byUser && all[n].User == first.User || by == byHost && all[n].Host == first.Host) {
			n++
		}
		list := all[:n]
		all = all[n:]
		if by != byHost && first.User != "" && !q.wants(first.User, "USER", "user") || by != byUser && first.Host != "" && !q.wants(first.Host, "HOST", "host") {
			continue
		}
		var name []any
		if by != byHost {
			name = append(name, orNull(first.User))
		}
		if by != byUser {
			name = append(name, orNull(first.Host))
		}
		if err := fn(name, list); err != nil {
			return err
		}
	}
	return nil
}

func statementsBy(q *query, by grouping) error {
	return q.eachGroup(by, func(name []any, list []metrics.Account) error {
		return q.statementKinds(name, q.server.Metrics().Of(list...), false)
	})
}

// statementEvents are the last statements of connections; current: of each the one that
// runs, or the last.
func statementEvents(q *query, current bool) error {
	m := q.server.Metrics()
	running := map[uint64]Process{}
	if current {
		for _, p := range q.server.Processes() {
			if p.Command == "Query" || p.Command == "Execute" || p.Command == "Prepare" {
				running[p.ID] = p
			}
		}
	}
	for _, s := range m.Sessions() {
		if p, ok := running[s.ID]; ok {
			if err := q.runningStatement(&p, s.Events()+1); err != nil {
				return err
			}
			continue
		}
		list := s.History()
		if current && len(list) > 1 {
			list = list[len(list)-1:]
		}
		for i := range list {
			if err := q.statementEvent(s.ID, &list[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *query) statementEvent(thread uint64, e *metrics.Event) error {
	begin := ps(e.Start.Sub(q.server.Started()))
	digest, normal := any(nil), any(nil)
	if e.Digest != nil {
		digest, normal = orNull(e.Digest.Hash), orNull(e.Digest.Text)
	}
	errors, state, text := uint64(0), "00000", any(nil)
	if e.Errno != 0 {
		errors, state, text = 1, e.State, shortened(e.Message, 128)
	}
	row := []any{thread, e.ID, e.ID, e.Command.EventName(), nil, begin, begin + ps(e.Duration), ps(e.Duration), ps(e.Lock), q.shownText(e.Text, e.Mode), digest, normal, orNull(e.Schema),
		nil, nil, nil, nil, int64(e.Errno), state, text, errors, e.Warnings, e.Affected, e.Sent}
	for c := range metrics.SortScan + 1 { // in the order of the columns
		row = append(row, e.Work[c])
	}
	return q.emitAll(row, []any{e.NoIndex, e.NoGood, nil, nil, 0, nil, uint64(0), e.Memory, e.Memory, "PRIMARY"})
}

// runningStatement is a statement that has not ended: what it does is counted at the
// end.
func (q *query) runningStatement(p *Process, id uint64) error {
	begin, now := ps(p.Since.Sub(q.server.Started())), ps(time.Since(q.server.Started()))
	row := []any{p.ID, id, nil, "statement/com/" + p.Command, nil, begin, now, now - min(begin, now), uint64(0), orNull(p.Info), nil, nil, orNull(p.DB),
		nil, nil, nil, nil, int64(0), nil, nil}
	for range 4 + int(metrics.SortScan) + 1 + 2 {
		row = append(row, uint64(0))
	}
	return q.emitAll(row, []any{nil, nil, 0, nil, uint64(0), uint64(0), uint64(0), "PRIMARY"})
}

// shortened is a text of at most so many characters.
func shortened(s string, most int) string {
	s = strings.ToValidUTF8(s, "?")
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most])
	}
	return s
}

func errorSummary(q *query) error {
	raised := map[uint16]metrics.ErrorCount{}
	for _, e := range q.server.Metrics().Errors.List() {
		raised[e.Number] = e
	}
	seen := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return t
	}
	for _, n := range sqlerr.Names() {
		e := raised[n.Number]
		delete(raised, n.Number)
		if err := q.emit(int64(n.Number), n.Symbol, n.State, e.Raised, uint64(0), seen(e.First), seen(e.Last)); err != nil {
			return err
		}
	}
	rest := metrics.ErrorCount{} // of numbers that are not known
	for _, e := range raised {
		rest.Raised += e.Raised
		if rest.First.IsZero() || e.First.Before(rest.First) {
			rest.First = e.First
		}
		if e.Last.After(rest.Last) {
			rest.Last = e.Last
		}
	}
	return q.emit(nil, nil, nil, rest.Raised, uint64(0), seen(rest.First), seen(rest.Last))
}

func preparedStatements(q *query) error {
	for i, p := range q.server.PreparedStatements() {
		err := q.emitAll([]any{uint64(i + 1), p.ID, orNull(p.Name), shortened(p.Text, metrics.MaxText), p.Thread, uint64(0), nil, nil, nil, "PRIMARY", ps(p.Prepare), uint64(0)},
			timer(p.Count, p.Sum, p.Min, p.Max))
		if err != nil {
			return err
		}
	}
	return nil
}

func memorySummary(q *query) error {
	for _, p := range q.server.MemoryParts() {
		// How often memory was taken is not counted: a part counts as one.
		err := q.emit("memory/sqlots/"+p.Name, uint64(1), uint64(0), uint64(p.Used), uint64(0), int64(0), int64(1), int64(1), int64(0), p.Used, p.Most)
		if err != nil {
			return err
		}
	}
	return nil
}

func errorLog(q *query) error {
	for _, l := range q.server.LogLines() {
		code := map[string]any{"Error": "MY-010000", "Warning": "MY-010001", "Note": "MY-010002"}[l.Priority]
		if err := q.emit(micros(l.Time), uint64(0), l.Priority, code, "Server", l.Text); err != nil {
			return err
		}
	}
	return nil
}
