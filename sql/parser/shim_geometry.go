package parser

import (
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// GeometryMark is the first member of the ENUM that stands for a geometry type in
// the AST, which has none. The following members are the type's name and, if the
// column has the attribute, its SRID.
const GeometryMark = "__sqlots_geometry"

// CollectFunc marks the argument of ST_COLLECT, which the shim writes as SUM:
// the grammar knows no other aggregates than its own.
const CollectFunc = "__sqlots_collect"

// stCollect rewrites ST_COLLECT([DISTINCT] g) as SUM([DISTINCT] CollectFunc(g)).
func (h *shim) stCollect() {
	for i := range h.toks {
		if h.word(i) != "ST_COLLECT" || !h.op(i+1, "(") || h.op(i-1, ".") {
			continue
		}
		end := h.closing(i + 1)
		from := i + 1
		if w := h.word(i + 2); w == "DISTINCT" || w == "ALL" {
			from++
		}
		if end < 0 || end == from+1 {
			continue
		}
		h.replace(i, i, "SUM")
		h.insertAfter(from, " "+CollectFunc+"(")
		h.insertBefore(end, ")")
	}
}

func isGeometryWord(w string) bool {
	switch w {
	case "GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION", "GEOMCOLLECTION":
		return true
	}
	return false
}

// geometryColumn rewrites the type of a column definition at token i, and the
// SRID among its attributes, as an ENUM that carries both.
func (h *shim) geometryColumn(i int) error {
	if !h.isColumnType(i) {
		return nil
	}
	members := []string{GeometryMark, strings.ToLower(h.word(i))}
	for j := i + 1; j < len(h.toks) && !h.op(j, ",") && !h.op(j, ")"); j++ {
		if h.op(j, "(") {
			if j = h.closing(j); j < 0 {
				return nil
			}
			continue
		}
		if w := h.word(j); w == "ADD" || w == "MODIFY" || w == "CHANGE" {
			break // a syntax error
		} else if w != "SRID" || j+1 >= len(h.toks) {
			continue
		}
		srid, err := h.srid(j + 1)
		if err != nil {
			return err
		}
		members = append(members, srid)
		h.blank(j, j+1)
		j++
	}
	h.replace(i, i, "ENUM('"+strings.Join(members, "','")+"')")
	return nil
}

// srid reads the number of an SRID attribute: 1690 beyond 32 bits.
func (h *shim) srid(i int) (string, error) {
	text := h.text(i)
	for k := range len(text) {
		if !isDigit(text[k]) {
			return "", syntaxError(h.src, h.toks[i].start, h.mode)
		}
	}
	if _, err := strconv.ParseUint(text, 10, 32); err != nil {
		return "", sqlerr.ValueOutOfRange("SRID", "SRID")
	}
	return text, nil
}

// isColumnType reports that token i is the type in a column definition: it
// follows a name at the beginning of a list item or after a word of ALTER TABLE.
func (h *shim) isColumnType(i int) bool {
	if !h.isName(i-1) || h.op(i+1, "(") || isDefinitionWord(h.word(i-1)) {
		return false
	}
	switch h.word(i - 2) {
	case "COLUMN", "ADD", "MODIFY":
		return true
	}
	if h.op(i-2, "(") || h.op(i-2, ",") {
		return true
	}
	// CHANGE [COLUMN] old new type
	return h.isName(i-2) && (h.word(i-3) == "CHANGE" || h.word(i-3) == "COLUMN" && h.word(i-4) == "CHANGE")
}

// isDefinitionWord reports reserved words that may occur in the place of a
// column's name.
func isDefinitionWord(w string) bool {
	switch w {
	case "COLUMN", "ADD", "MODIFY", "CHANGE", "DROP", "KEY", "INDEX", "UNIQUE", "PRIMARY", "FOREIGN", "CONSTRAINT", "CHECK", "FULLTEXT", "SPATIAL":
		return true
	}
	return false
}

// strayedSRID is 1221 for the SRID attribute of a column of another type.
func (h *shim) strayedSRID(i int) error {
	if i+1 >= len(h.toks) || h.text(i+1) == "" || !isDigit(h.text(i + 1)[0]) {
		return nil
	}
	for j := i - 1; j > 0 && !h.op(j, ",") && !h.op(j, "("); j-- {
		if h.op(j, ")") {
			if j = h.opening(j); j < 0 {
				return nil
			}
			continue
		}
		if h.word(j) == "SRID" || isGeometryWord(h.word(j)) && h.isColumnType(j) {
			return nil // one before was looked at already
		}
	}
	return sqlerr.WrongUsage("SRID", "non-geometry column")
}
