package histories

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// question is a statement with the values for its ?.
type question struct {
	sql  string
	args []any
}

func (q question) text() string {
	if len(q.args) == 0 {
		return q.sql
	}
	return fmt.Sprint(q.sql, " ", q.args)
}

// values are what a statement may name: {k} is replaced by keys[0], {ks} by keys.
type values map[string][]int64

var placeholder = regexp.MustCompile(`\{\w+\}`)

// fill puts values into a template, as text or as arguments.
func (v values) fill(template string, prepared bool) question {
	var q question
	q.sql = placeholder.ReplaceAllStringFunc(template, func(name string) string {
		list := v[strings.Trim(name, "{}")]
		if prepared {
			for _, n := range list {
				q.args = append(q.args, n)
			}
			return strings.TrimSuffix(strings.Repeat("?,", len(list)), ",")
		}
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
	})
	return q
}

// some are n different ones of a list, in its order or in any.
func some[E any](r *rand.Rand, list []E, n int) []E {
	out := slices.Clone(list)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:n]
}

// path is a way to read rows.
type path struct {
	name string
	sql  string
	// plan are parts of what EXPLAIN has to say.
	plan []string
	// reads says which keys the answer must have, by the name of a value: "k", "ks",
	// "gs" (those of a group), "range" or "all"; "" if it may have any.
	reads string
}
