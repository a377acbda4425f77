package audit

import "strings"

// ParseClasses reads a list of names, ALL, or NONE; false for others.
func ParseClasses(text string) (c Class, ok bool) {
	switch strings.ToUpper(strings.TrimSpace(text)) {
	case "ALL":
		return All, true
	case "NONE", "":
		return 0, true
	}
words:
	for _, word := range strings.Split(text, ",") {
		for i, name := range Names {
			if strings.EqualFold(strings.TrimSpace(word), name) {
				c |= 1 << i
				continue words
			}
		}
		return 0, false
	}
	return c, true
}

// String is the list of the names, NONE for none.
func (c Class) String() string {
	var list []string
	for i, name := range Names {
		if c&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	if list == nil {
		return "NONE"
	}
	return strings.Join(list, ",")
}
