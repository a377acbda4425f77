package value

// jsonEdit is a change of the value at the end of a path.
type jsonEdit struct {
	val      []byte
	insert   bool // where the path has no value
	replace  bool // where it has one
	remove   bool
	appendTo bool // JSON_ARRAY_APPEND
	shift    bool // JSON_ARRAY_INSERT: at the cell, moving the others up
}

// The functions below return doc itself when the path changes nothing. Paths
// with wildcards change nothing; callers refuse them (3149).

// JSONSet replaces or inserts the value at the path.
func JSONSet(doc []byte, p *JSONPath, v []byte) []byte {
	return p.edit(doc, &jsonEdit{val: v, insert: true, replace: true})
}

// JSONInsert inserts the value at the path if the path has none.
func JSONInsert(doc []byte, p *JSONPath, v []byte) []byte {
	return p.edit(doc, &jsonEdit{val: v, insert: true})
}

// JSONReplace replaces the value at the path if there is one.
func JSONReplace(doc []byte, p *JSONPath, v []byte) []byte {
	return p.edit(doc, &jsonEdit{val: v, replace: true})
}

// JSONRemove removes the value at the path; the root cannot be removed.
func JSONRemove(doc []byte, p *JSONPath) []byte {
	return p.edit(doc, &jsonEdit{remove: true})
}

// JSONArrayAppend appends to the array at the path; another value becomes an
// array first.
func JSONArrayAppend(doc []byte, p *JSONPath, v []byte) []byte {
	return p.edit(doc, &jsonEdit{val: v, appendTo: true})
}

// JSONArrayInsert inserts before the array cell at the end of the path.
func JSONArrayInsert(doc []byte, p *JSONPath, v []byte) []byte {
	return p.edit(doc, &jsonEdit{val: v, shift: true})
}

func (p *JSONPath) edit(doc []byte, e *jsonEdit) []byte {
	if p.HasWildcard() {
		return doc
	}
	out, changed := e.apply(doc, p.legs)
	if !changed {
		return doc
	}
	return out
}

// apply makes doc with the change at legs.
func (e *jsonEdit) apply(doc []byte, legs []jsonLeg) ([]byte, bool) {
	if len(legs) == 0 {
		switch {
		case e.replace:
			return e.val, true
		case e.appendTo && jsonTag(doc) == jsonArray:
			return JSONArray(append(elemsOf(doc), e.val)...), true
		case e.appendTo:
			return JSONArray(doc, e.val), true
		}
		return doc, false
	}
	if legs[0].kind == legMember {
		return e.member(doc, legs)
	}
	return e.cell(doc, legs)
}

// elemsOf are the elements of an array or the values of an object.
func elemsOf(doc []byte) [][]byte {
	n := JSONLen(doc)
	out := make([][]byte, n, n+1)
	for i := range out {
		out[i] = JSONElem(doc, i)
	}
	return out
}

func keysOf(doc []byte) [][]byte {
	n := JSONLen(doc)
	out := make([][]byte, n, n+1)
	for i := range out {
		out[i] = JSONKey(doc, i)
	}
	return out
}

func insertAt(s [][]byte, i int, v []byte) [][]byte {
	s = append(s, nil)
	copy(s[i+1:], s[i:])
	s[i] = v
	return s
}

func removeAt(s [][]byte, i int) [][]byte { return append(s[:i], s[i+1:]...) }

func (e *jsonEdit) member(doc []byte, legs []jsonLeg) ([]byte, bool) {
	if jsonTag(doc) != jsonObject {
		return doc, false
	}
	final := len(legs) == 1
	i, found := findMember(doc, legs[0].key)
	switch {
	case found && final && e.remove:
		return sortedObject(removeAt(keysOf(doc), i), removeAt(elemsOf(doc), i)), true
	case found:
		v, changed := e.apply(JSONElem(doc, i), legs[1:])
		if !changed {
			return doc, false
		}
		vals := elemsOf(doc)
		vals[i] = v
		return sortedObject(keysOf(doc), vals), true
	case final && e.insert:
		return sortedObject(insertAt(keysOf(doc), i, legs[0].key), insertAt(elemsOf(doc), i, e.val)), true
	}
	return doc, false
}

func (e *jsonEdit) cell(doc []byte, legs []jsonLeg) ([]byte, bool) {
	final := len(legs) == 1
	if jsonTag(doc) != jsonArray {
		switch {
		case e.shift && final:
			return doc, false
		case legs[0].matchesScalar():
			return e.apply(doc, legs[1:])
		case final && e.insert && legs[0].from.last:
			return JSONArray(e.val, doc), true
		case final && e.insert:
			return JSONArray(doc, e.val), true
		}
		return doc, false
	}
	elems := elemsOf(doc)
	n := len(elems)
	i := legs[0].from.at(n)
	inside := i >= 0 && i < n
	switch {
	case final && e.shift, final && e.insert && !inside:
		return JSONArray(insertAt(elems, max(min(i, n), 0), e.val)...), true
	case inside && final && e.remove:
		return JSONArray(removeAt(elems, i)...), true
	case inside:
		v, changed := e.apply(elems[i], legs[1:])
		if !changed {
			return doc, false
		}
		elems[i] = v
		return JSONArray(elems...), true
	}
	return doc, false
}

// JSONMergePatch is JSON_MERGE_PATCH (RFC 7396): members of b replace those of
// a, null removes them. It calls work, if that is not nil, with what it does, in units
// of about a nanosecond, and ends with its errors.
func JSONMergePatch(a, b []byte, work func(n int) error) ([]byte, error) {
	if jsonTag(b) != jsonObject {
		return b, nil
	}
	if jsonTag(a) != jsonObject {
		a = nil
	}
	return mergeMembers(a, b, work, func(old, v []byte) ([]byte, error) {
		if jsonTag(v) == jsonNull {
			return nil, nil
		}
		return JSONMergePatch(old, v, work)
	})
}

// JSONMergePreserve is JSON_MERGE_PRESERVE: arrays are joined, values of equal
// keys merged, everything else put into one array. Calls of work are those of
// JSONMergePatch.
func JSONMergePreserve(a, b []byte, work func(n int) error) ([]byte, error) {
	if jsonTag(a) == jsonObject && jsonTag(b) == jsonObject {
		return mergeMembers(a, b, work, func(old, v []byte) ([]byte, error) {
			if old == nil {
				return v, nil
			}
			return JSONMergePreserve(old, v, work)
		})
	}
	if work != nil {
		if err := work(len(a) + len(b)); err != nil {
			return nil, err
		}
	}
	return JSONArray(append(asArray(a), asArray(b)...)...), nil
}

// workOfMember is about the work of a member in a merge.
const workOfMember = 50

// mergeMembers is the object of the members of a, which is nil for none, and of what
// value makes of those of b; it gets the value of the key in a, nil without, and may
// give nil for no member. The members of both are in the order of their keys.
func mergeMembers(a, b []byte, work func(n int) error, value func(old, v []byte) ([]byte, error)) ([]byte, error) {
	n, more := 0, JSONLen(b)
	if a != nil {
		n = JSONLen(a)
	}
	keys, vals := make([][]byte, 0, n+more), make([][]byte, 0, n+more)
	for i, j := 0, 0; i < n || j < more; {
		if work != nil {
			if err := work(workOfMember); err != nil {
				return nil, err
			}
		}
		order := -1 // of the next key of a and that of b
		switch {
		case i == n:
			order = 1
		case j < more:
			order = compareKeys(JSONKey(a, i), JSONKey(b, j))
		}
		if order < 0 {
			keys, vals = append(keys, JSONKey(a, i)), append(vals, JSONElem(a, i))
			i++
			continue
		}
		var old []byte
		if order == 0 {
			old = JSONElem(a, i)
			i++
		}
		v, err := value(old, JSONElem(b, j))
		if err != nil {
			return nil, err
		}
		if v != nil {
			keys, vals = append(keys, JSONKey(b, j)), append(vals, v)
		}
		j++
	}
	return sortedObject(keys, vals), nil
}

func asArray(doc []byte) [][]byte {
	if jsonTag(doc) == jsonArray {
		return elemsOf(doc)
	}
	return [][]byte{doc}
}
