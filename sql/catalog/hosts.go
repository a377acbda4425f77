package catalog

import (
	"cmp"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/collate"
)

// hostKind is what the host part of an account is; a greater one is more
// specific.
type hostKind int

const (
	hostAny     hostKind = iota // ''
	hostPattern                 // with % and _
	hostNetwork                 // 10.0.0.0/8, 10.0.0.0/255.0.0.0, fd00::/8
	hostExact                   // an address or a name
)

// host is the host part of an account, parsed.
type host struct {
	kind hostKind
	text string
	// addr is that of hostExact, if it is one, and of hostNetwork; mask has the
	// bits of a client's address that are compared with it.
	addr netip.Addr
	mask []byte
}

// parseHost never fails: what is neither address nor network is a name.
func parseHost(text string) host {
	h := host{kind: hostExact, text: text}
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		h.addr = addr.Unmap()
		return h
	}
	if addr, mask, ok := parseNetwork(text); ok {
		h.kind, h.addr, h.mask = hostNetwork, addr, mask
		return h
	}
	switch {
	case text == "":
		h.kind = hostAny
	case strings.ContainsAny(text, "%_"):
		h.kind = hostPattern
	}
	return h
}

// parseNetwork reads address/bits, in which only the first bits count, and
// address/mask, of IPv4 only, which no client matches if the address has bits
// that the mask lacks, as in MySQL.
func parseNetwork(text string) (addr netip.Addr, mask []byte, ok bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		mask = make([]byte, p.Addr().BitLen()/8)
		for i := range p.Bits() {
			mask[i/8] |= 0x80 >> (i % 8)
		}
		return p.Masked().Addr(), mask, true
	}
	before, after, _ := strings.Cut(text, "/")
	a, err := netip.ParseAddr(before)
	m, merr := netip.ParseAddr(after)
	if err != nil || merr != nil || !a.Is4() || !m.Is4() {
		return netip.Addr{}, nil, false
	}
	return a, m.AsSlice(), true
}

// rank orders hosts: the greater one is more specific. Networks go by the bits
// of their mask, and address/bits precedes address/mask; patterns as in MySQL by what precedes the first wildcard, and
// then by all that are no wildcards.
func (h *host) rank() [3]int {
	r := [3]int{int(h.kind)}
	switch h.kind {
	case hostNetwork:
		for _, b := range h.mask {
			r[1] += bits.OnesCount8(b)
		}
		if _, err := netip.ParsePrefix(h.text); err == nil {
			r[2] = 1
		}
	case hostPattern:
		r[1] = -1
		for i := 0; i < len(h.text); i++ {
			switch {
			case h.text[i] != '%' && h.text[i] != '_':
				r[2]++
				if h.text[i] == '\\' && i+1 < len(h.text) {
					i++
				}
			case r[1] < 0:
				r[1] = i
			}
		}
		if h.text == "%" {
			r[1] = -1
		}
	}
	return r
}

// client is a client's host under all its names.
type client struct {
	names []string
	addrs []netip.Addr
}

var loopback = client{names: []string{"localhost", "127.0.0.1", "::1"}, addrs: []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}}

// clientOf takes what mysqlwire.Backend.Account is given, or an address.
func clientOf(name string) client {
	addr, err := netip.ParseAddr(name)
	switch {
	case name == "localhost" || err == nil && addr.IsLoopback():
		return loopback
	case err != nil:
		return client{names: []string{name}}
	}
	return client{names: []string{name}, addrs: []netip.Addr{addr.Unmap()}}
}

func (h *host) matches(c client) bool {
	switch h.kind {
	case hostAny:
		return true
	case hostNetwork:
		return slices.ContainsFunc(c.addrs, h.contains)
	case hostPattern:
		coll, _ := collate.ByName("utf8mb4_general_ci")
		like := coll.NewLike([]byte(h.text), '\\')
		return slices.ContainsFunc(c.names, func(name string) bool { return like.Match([]byte(name)) })
	}
	return h.addr.IsValid() && slices.Contains(c.addrs, h.addr) ||
		slices.ContainsFunc(c.names, func(name string) bool { return strings.EqualFold(name, h.text) })
}

func (h *host) contains(addr netip.Addr) bool {
	a, want := addr.AsSlice(), h.addr.AsSlice()
	if len(a) != len(want) {
		return false
	}
	for i := range a {
		if a[i]&h.mask[i] != want[i] {
			return false
		}
	}
	return true
}

// AccountFor finds the account that serves a user from a host, an address or
// "localhost" for loopback: of those that match, the one with the most specific
// host; nil if none matches.
func (s *Snapshot) AccountFor(user, from string) *Account {
	c := clientOf(from)
	for _, a := range s.accounts {
		if a.User != user && a.User != "" {
			continue
		}
		if h := parseHost(a.Host); h.matches(c) {
			return a
		}
	}
	return nil
}

// sortAccounts puts the most specific hosts first, as MySQL does, and of those
// with equal hosts the accounts with a name.
func sortAccounts(list []*Account) {
	ranks := make(map[*Account][3]int, len(list))
	for _, a := range list {
		h := parseHost(a.Host)
		ranks[a] = h.rank()
	}
	slices.SortFunc(list, func(a, b *Account) int {
		ra, rb := ranks[a], ranks[b]
		return cmp.Or(slices.Compare(rb[:], ra[:]), anonymous(a)-anonymous(b), cmp.Compare(a.User, b.User), cmp.Compare(a.Host, b.Host))
	})
}

// anonymous is 1 for an account without a name.
func anonymous(a *Account) int {
	if a.User == "" {
		return 1
	}
	return 0
}
