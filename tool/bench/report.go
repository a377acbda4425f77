package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// report is everything that a run found, as printed with -json.
type report struct {
	Targets      []string      `json:"targets"`
	Sizes        Sizes         `json:"sizes"`
	Loads        []loadResult  `json:"loads,omitempty"`
	Measurements []measurement `json:"measurements,omitempty"`
	Comparisons  []comparison  `json:"comparisons,omitempty"`
}

func (r *report) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// comparison holds the medians of both targets for one workload. Ratios above
// 1 say that A is better.
type comparison struct {
	Workload string      `json:"workload"`
	Conns    int         `json:"conns"`
	A        measurement `json:"a"`
	B        measurement `json:"b"`
	Rate     float64     `json:"rate_ratio"`
	P50      float64     `json:"p50_ratio"`
	P99      float64     `json:"p99_ratio"`
	CPU      float64     `json:"server_cpu_ratio,omitempty"`
}

func newComparison(a, b []measurement) comparison {
	ma, mb := medians(a), medians(b)
	return comparison{
		Workload: ma.Workload, Conns: ma.Conns, A: ma, B: mb,
		Rate: ratio(ma.Rate, mb.Rate),
		P50:  ratio(float64(mb.P50Us), float64(ma.P50Us)),
		P99:  ratio(float64(mb.P99Us), float64(ma.P99Us)),
		CPU:  ratio(mb.ServerCPU, ma.ServerCPU),
	}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// medians takes each number's median over the rounds; counts are summed.
func medians(ms []measurement) measurement {
	m := ms[0]
	m.Round = 0
	m.Rate = median(ms, func(m measurement) float64 { return m.Rate })
	m.MeanUs = median(ms, func(m measurement) float64 { return m.MeanUs })
	m.P50Us = median(ms, func(m measurement) int64 { return m.P50Us })
	m.P99Us = median(ms, func(m measurement) int64 { return m.P99Us })
	m.MaxUs = median(ms, func(m measurement) int64 { return m.MaxUs })
	m.ServerCPU = median(ms, func(m measurement) float64 { return m.ServerCPU })
	m.ClientCPU = median(ms, func(m measurement) float64 { return m.ClientCPU })
	for _, other := range ms[1:] {
		m.Ops += other.Ops
		m.Rows += other.Rows
		m.Errors += other.Errors
		m.Seconds += other.Seconds
		m.FirstError = cmp.Or(m.FirstError, other.FirstError)
	}
	return m
}

// median of an even number is the mean of the middle two.
func median[T int64 | float64](ms []measurement, of func(measurement) T) T {
	values := make([]T, len(ms))
	for i, m := range ms {
		values[i] = of(m)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

const measurementHead = "workload         conns        ops/s     p50 µs     p99 µs   rows/op  server µs/op  client µs/op  errors"

func (m measurement) String() string {
	server := "-"
	if m.ServerCPU > 0 {
		server = fmt.Sprintf("%.1f", m.ServerCPU)
	}
	rows := 0.0
	if m.Ops > 0 {
		rows = float64(m.Rows) / float64(m.Ops)
	}
	s := fmt.Sprintf("%-16s %5d %12.1f %10d %10d %9.1f %13s %13.1f %7d",
		m.Workload, m.Conns, m.Rate, m.P50Us, m.P99Us, rows, server, m.ClientCPU, m.Errors)
	return s + m.errorNote()
}

func (m measurement) errorNote() string {
	if m.FirstError == "" {
		return ""
	}
	return "\n    first error of " + m.Target + ": " + strings.ReplaceAll(m.FirstError, "\n", " ")
}

const comparisonHead = "workload         conns      A ops/s      B ops/s  rate A/B     A p50     B p50  p50 B/A     A p99     B p99  p99 B/A  A cpu µs  B cpu µs  cpu B/A  errors"

func (c comparison) String() string {
	s := fmt.Sprintf("%-16s %5d %12.1f %12.1f %9.2f %9d %9d %8.2f %9d %9d %8.2f %9.1f %9.1f %8.2f %7d",
		c.Workload, c.Conns, c.A.Rate, c.B.Rate, c.Rate, c.A.P50Us, c.B.P50Us, c.P50,
		c.A.P99Us, c.B.P99Us, c.P99, c.A.ServerCPU, c.B.ServerCPU, c.CPU, c.A.Errors+c.B.Errors)
	return s + c.A.errorNote() + c.B.errorNote()
}
