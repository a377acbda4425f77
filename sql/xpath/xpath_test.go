package xpath

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

func novars(string) (string, bool) { return "", false }

func TestEval(t *testing.T) {
	for _, x := range []struct{ doc, path, want string }{
		{"<a><b>1</b><b>2</b></a>", "//b[2]", "2"}, {"<a><b>1</b><b>2</b></a>", "count(//b)", "2"}, {"<a><b>1</b><b>2</b></a>", "sum(//b)", "3"},
		{"<a b='1' c=\"2\"/>", "/a/@*", "1 2"}, {"<a>x<b>z</b>q</a>", "/a", "x q"}, {"<a><![CDATA[x<y]]></a>", "/a", "x<y"},
		{"<a><b x='1'>p</b><b>q</b></a>", "//b[@x]", "p"}, {"<a>1<b>p</b></a>", "//b/parent::a", "1"}, {"<a>1<b>p</b></a>", "/a | /a/b", "1 p"},
		{"<a><b>1</b><b>2</b></a>", "//b[last()-1]", "1"}, {"<a><b>1</b><b>2</b></a>", "//b[position()=2]", "2"}, {"<a>3</a>", "/a>2", "1"},
		{"<a/>", "concat('a','b')", "ab"}, {"<a/>", "(1+2)*3", "9"}, {"<a/>", "substring('abc',2,1)", "b"}, {"<a/>", "-2 mod 2 + 7 div 2", "3.5"},
		{"<a><b><c>1</c></b></a>", "/a//c", "1"}, {"<a><b><c>1</c></b></a>", "//c/ancestor::a/b/c", "1"}, {"<a>x</a><a>y</a>", "/a", "x y"},
	} {
		d, err := Parse(x.doc, nil)
		if err != nil {
			t.Errorf("%s: %v", x.doc, err)
			continue
		}
		e, err := Compile(x.path)
		if err != nil {
			t.Errorf("%s: %v", x.path, err)
			continue
		}
		v, err := e.Eval(d, novars)
		if text, _ := v.Text(d); err != nil || text != x.want {
			t.Errorf("%s of %s: %q, %v; want %q", x.path, x.doc, text, err, x.want)
		}
	}
}

// TestPositions: a predicate that is no condition is a position, also as a text and as
// the text of a variable.
func TestPositions(t *testing.T) {
	d, err := Parse("<a><b>1</b><b>2</b></a>", nil)
	if err != nil {
		t.Fatal(err)
	}
	vars := func(name string) (string, bool) {
		v, ok := map[string]string{"one": "1", "two": "2", "near": "1.6", "no": "x"}[name]
		return v, ok
	}
	for path, want := range map[string]string{
		"//b[$@one]": "1", "//b[$@two]": "2", "//b[$@near]": "2", "//b[$@no]": "", "//b[$@nosuch]": "", "//b[$@two=.]": "2", "//b['2']": "2", "//b['x']": "", "//b[1.6]": "2", "//b[0.5]": "", "//b[true()]": "1 2", "//b[concat('1','')]": "1", "//b[.]": "1 2", "//b[c]": "", "$@two+1": "3",
	} {
		e, err := Compile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		v, err := e.Eval(d, vars)
		if text, _ := v.Text(d); err != nil || text != want {
			t.Errorf("%s: %q, %v; want %q", path, text, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, doc := range []string{"<a>", "<a></b>", "</a>", "<a b='1>", "<!-- x", "<a><b></a></b>", "<1 <"} {
		if _, err := Parse(doc, nil); err == nil {
			t.Errorf("%s is well-formed", doc)
		}
	}
	for _, path := range []string{"/a/", "/a[", "foo(1)", "1 +", "'x", "starts-with('a','a')", "//", "a b"} {
		if _, err := Compile(path); err == nil {
			t.Errorf("%s compiles", path)
		}
	}
}

// TestLongExpressions: each operator is an operand of the next one.
func TestLongExpressions(t *testing.T) {
	d, err := Parse("<a/>", nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Compile("1" + strings.Repeat("+1", maxOperators))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := e.Eval(d, novars); err != nil || v.num != maxOperators+1 {
		t.Errorf("%v, %v", v.num, err)
	}
	for _, path := range []string{"1" + strings.Repeat("+1", maxOperators+1), "1" + strings.Repeat(" or 1 and 1", maxOperators), "/a" + strings.Repeat("|/a", 20*maxOperators)} {
		if _, err := Compile(path); err == nil {
			t.Errorf("%.20s… compiles", path)
		}
	}
}

// TestWorkEnds: documents of every form are given up soon after work says so, also where
// the work grows with the square of the nodes.
func TestWorkEnds(t *testing.T) {
	testflag.Normal(t)
	const n = 100_000
	stop := errors.New("stop")
	flat, deep := "<a>"+strings.Repeat("<b>1</b>", n)+"</a>", strings.Repeat("<a>", n)+strings.Repeat("</a>", n)
	for _, doc := range []string{flat, deep, strings.Repeat("x<b/>", n), "<a" + strings.Repeat(" b='1'", n) + "/>"} {
		if _, err := Parse(doc, func(int) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%.20s: %v", doc, err)
		}
	}
	for _, c := range []struct{ doc, path string }{
		{flat, "//b[//b=2]"}, {flat, "//b[count(//b)=2]"}, {flat, "//b[../b=2]"}, {deep, "//a[.//a=1]"}, {deep, "//a/ancestor::a"}, {flat, "//b"},
	} {
		left := math.MaxInt
		d, err := Parse(c.doc, func(n int) error {
			if left -= n; left < 0 {
				return stop
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Compile(c.path)
		if err != nil {
			t.Fatalf("%s: %v", c.path, err)
		}
		left = 1_000_000
		if _, err := e.Eval(d, novars); !errors.Is(err, stop) {
			t.Errorf("%s of %.20s: %v", c.path, c.doc, err)
		}
	}
	// None of these looks at all nodes for each node.
	for _, c := range []struct{ doc, path, want string }{
		{flat, "sum(//b)", strconv.Itoa(n)}, {flat, "count(/a/b)", strconv.Itoa(n)}, {deep, "count(//a//a//a)", strconv.Itoa(n - 2)}, {deep, "count(//a/a)", strconv.Itoa(n - 1)},
	} {
		work := 0
		d, err := Parse(c.doc, func(n int) error { work += n; return nil })
		if err != nil {
			t.Fatal(err)
		}
		e, err := Compile(c.path)
		if err != nil {
			t.Fatalf("%s: %v", c.path, err)
		}
		work = 0
		v, err := e.Eval(d, novars)
		if text, _ := v.Text(d); err != nil || text != c.want || work > 20*n*workOfNode {
			t.Errorf("%s of %.20s: %s, %v, after %d; want %s", c.path, c.doc, text, err, work, c.want)
		}
	}
}

// plainApply is apply by the parents of all nodes.
func plainApply(d *Document, s *step, from []int) (out []int) {
	below := func(m, n int) bool {
		for p := d.nodes[m].parent; p >= 0; p = d.nodes[p].parent {
			if p == n {
				return true
			}
		}
		return false
	}
	for m := range d.nodes {
		for _, n := range from {
			on := map[string]bool{"self": m == n, "parent": d.nodes[n].parent == m, "ancestor": below(n, m), "ancestor-or-self": m == n || below(n, m), "child": d.nodes[m].parent == n, "attribute": d.nodes[m].parent == n,
				"descendant": below(m, n), "descendant-or-self": m == n || below(m, n)}[s.axis]
			k := d.nodes[m].kind
			fits := k == kindAttribute
			if s.axis != "attribute" {
				fits = k != kindText && (k != kindAttribute || m == n) && (s.name == "" || k == kindElement)
			}
			if on && fits && (s.name == "" || s.name == "*" || s.name == d.nodes[m].name) {
				out = append(out, m)
				break
			}
		}
	}
	return out
}

func TestStepsAgainstPlain(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var element func(depth int) string
	element = func(depth int) string {
		name := []string{"a", "b"}[rnd.IntN(2)]
		out := "<" + name + []string{"", " a='1'", " b='2' a='3'"}[rnd.IntN(3)] + ">"
		for range rnd.IntN(4) {
			if depth > 4 || rnd.IntN(4) == 0 {
				out += "t<!-- -->"
			} else {
				out += element(depth + 1)
			}
		}
		return out + "</" + name + ">"
	}
	for range 300 {
		doc := element(0) + element(0)
		d, err := Parse(doc, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			var from []int
			for n := range d.nodes {
				if rnd.IntN(5) == 0 {
					from = append(from, n)
				}
			}
			s := &step{axis: slices.Sorted(maps.Keys(axes))[rnd.IntN(len(axes))], name: []string{"", "*", "a", "b"}[rnd.IntN(4)]}
			got, err := s.apply(&context{doc: d}, from)
			if want := plainApply(d, s, from); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s::%s of %v in %s: %v, want %v", s.axis, s.name, from, doc, got, want)
			}
		}
	}
}

// FuzzXPath looks for panics; what is replaced must be well inside of the text.
func FuzzXPath(f *testing.F) {
	f.Add("<a b='1'><c>x</c><!-- y --></a>", "//c[@x=1 or position()=last()]/../@b | /a")
	f.Add("<?x?><a><![CDATA[q]]></a>", "count(//*) div (2 - 1)")
	f.Fuzz(func(t *testing.T, doc, path string) {
		d, err := Parse(doc, nil)
		if err != nil {
			return
		}
		e, err := Compile(path)
		if err != nil {
			return
		}
		if v, err := e.Eval(d, novars); err == nil {
			_, _ = v.Text(d)
			if set, ok := v.Nodes(); ok {
				_, _ = d.Replace(set, "")
			}
		}
	})
}
