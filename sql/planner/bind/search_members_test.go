package bind

import "testing"

// TestNestedValues: a value is a word, a number, a name or a text; a quote that nothing
// closes is none.
func TestNestedValues(t *testing.T) {
	for _, c := range []struct{ text, want string }{{"word, x", "word"}, {" 17)", "17"}, {"'a''b'", "a'b"}, {`"a\"b"`, `a"b`}, {"`a``b`", "a`b"}} {
		p := nestedParser{rest: c.text}
		if got, err := p.value(); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", c.text, got, err)
		}
	}
	for _, text := range []string{"", "'", `"a`, "`", "``", "(", ")", ",", "="} {
		p := nestedParser{rest: text}
		if got, err := p.value(); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}
