package priv

import (
	"errors"
	"strings"
)

var errNames = errors.New("a list of roles is name[@host], …")

// ParseNames reads a list of roles as in the variable mandatory_roles:
// r1, 'r2'@'host', `r3`@`%.net`. Without a host it is %.
func ParseNames(text string) ([]Name, error) {
	var out []Name
	rest := strings.TrimSpace(text)
	for rest != "" {
		n := Name{Host: "%"}
		var ok bool
		if n.User, rest, ok = part(rest, ",@"); !ok || n.User == "" {
			return nil, errNames
		}
		if strings.HasPrefix(rest, "@") {
			if n.Host, rest, ok = part(strings.TrimSpace(rest[1:]), ","); !ok || n.Host == "" {
				return nil, errNames
			}
			n.Host = strings.ToLower(n.Host)
		}
		out = append(out, n)
		if rest == "" {
			break
		}
		if rest[0] != ',' {
			return nil, errNames
		}
		if rest = strings.TrimSpace(rest[1:]); rest == "" {
			return nil, errNames
		}
	}
	return out, nil
}

// part is a name, in quotes or up to one of the ends, and what follows it.
func part(s, ends string) (name, rest string, ok bool) {
	if s == "" {
		return "", "", false
	}
	q := s[0]
	if q != '\'' && q != '"' && q != '`' {
		i := strings.IndexAny(s, ends)
		if i < 0 {
			i = len(s)
		}
		return strings.TrimSpace(s[:i]), s[i:], true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != q:
			b.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == q:
			b.WriteByte(q)
			i++
		default:
			return b.String(), strings.TrimSpace(s[i+1:]), true
		}
	}
	return "", "", false
}
