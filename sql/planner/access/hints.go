package access

import (
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// hints answers which indexes the hints allow.
type hints struct {
	use, force, ignore map[string]bool
	useSet             bool
}

func newHints(h *logical.IndexHint) *hints {
	set := func(names []string) map[string]bool {
		if len(names) == 0 {
			return nil
		}
		m := make(map[string]bool, len(names))
		for _, n := range names {
			m[strings.ToUpper(n)] = true
		}
		return m
	}
	return &hints{use: set(h.Use), force: set(h.Force), ignore: set(h.Ignore), useSet: h.UseSet}
}

func (h *hints) index(name string, invisible bool) bool {
	if !h.useSet && h.force == nil && h.ignore == nil {
		return !invisible
	}
	n := strings.ToUpper(name)
	switch {
	case h.ignore[n]:
		return false
	case len(h.force) > 0:
		return h.force[n]
	case h.useSet:
		return h.use[n]
	}
	return !invisible
}

// preferForced drops the scan of all rows when a forced index can be used: for
// ranges, for the order, or because it covers the query.
func (h *hints) preferForced(paths []*Path) []*Path {
	var out []*Path
	for _, p := range paths {
		if p.Key().Index != nil || !p.Access.ReadsAll() || h.force["PRIMARY"] {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return paths
	}
	return out
}

// named reports whether a hint names an index.
func (h *hints) named(name string) bool {
	for _, list := range []map[string]bool{h.force, h.use} {
		for n := range list {
			if strings.EqualFold(n, name) {
				return true
			}
		}
	}
	return false
}

// wants reports whether an optimizer hint is about index x, nil for the primary
// key: it names it, or none.
func wants(hint *[]string, x *schema.Index) bool {
	if hint == nil {
		return false
	}
	name := "PRIMARY"
	if x != nil {
		name = x.Name
	}
	return len(*hint) == 0 || slices.Contains(*hint, name)
}

// HintAllows reports whether the hints of a table occurrence allow an index.
func HintAllows(h *logical.IndexHint, name string) bool { return newHints(h).index(name, false) }

// orderHints are the indexes that must give the order, and those that must not.
func (r *Request) orderHints() (only, not *[]string) {
	if r.Grouping {
		return r.Scan.Opt.Group, r.Scan.Opt.NoGroup
	}
	return r.Scan.Opt.Order, r.Scan.Opt.NoOrder
}

// mayOrder reports whether hints let an index (nil: the primary key) give the
// wanted order.
func (r *Request) mayOrder(x *schema.Index) bool {
	only, not := r.orderHints()
	return !wants(not, x) && (only == nil || wants(only, x))
}

// Forced is the cheapest path that gives the wanted order by an index which a
// hint requires; nil without.
func (r *Request) Forced(paths []*Path) *Path {
	only, _ := r.orderHints()
	if only == nil || len(r.Order) == 0 {
		return nil
	}
	var best *Path
	for _, p := range paths {
		if p.Ordered && p.Access.ByKey() && wants(only, p.Key().Index) && (best == nil || p.LimitedCost < best.LimitedCost) {
			best = p
		}
	}
	return best
}
