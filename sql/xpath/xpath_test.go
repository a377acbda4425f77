package xpath

import (
	"testing"
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
		d, err := Parse(x.doc)
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
		if err != nil || v.Text(d) != x.want {
			t.Errorf("%s of %s: %q, %v; want %q", x.path, x.doc, v.Text(d), err, x.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, doc := range []string{"<a>", "<a></b>", "</a>", "<a b='1>", "<!-- x", "<a><b></a></b>", "<1 <"} {
		if _, err := Parse(doc); err == nil {
			t.Errorf("%s is well-formed", doc)
		}
	}
	for _, path := range []string{"/a/", "/a[", "foo(1)", "1 +", "'x", "starts-with('a','a')", "//", "a b"} {
		if _, err := Compile(path); err == nil {
			t.Errorf("%s compiles", path)
		}
	}
}

// FuzzXPath looks for panics; what is replaced must be well inside of the text.
func FuzzXPath(f *testing.F) {
	f.Add("<a b='1'><c>x</c><!-- y --></a>", "//c[@x=1 or position()=last()]/../@b | /a")
	f.Add("<?x?><a><![CDATA[q]]></a>", "count(//*) div (2 - 1)")
	f.Fuzz(func(t *testing.T, doc, path string) {
		d, err := Parse(doc)
		if err != nil {
			return
		}
		e, err := Compile(path)
		if err != nil {
			return
		}
		if v, err := e.Eval(d, novars); err == nil {
			_ = v.Text(d)
			if set, ok := v.Nodes(); ok {
				_, _ = d.Replace(set, "")
			}
		}
	})
}
