package console

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

type answer struct {
	First, Step, Count int64
	Values             map[string][]*int64
}

func ask(t *testing.T, h *History, query string) answer {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/v1/history"+query, nil))
	var a answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %s", query, w.Code, err, w.Body)
	}
	if len(a.Values) != len(series) {
		t.Fatalf("%d series", len(a.Values))
	}
	for name, list := range a.Values {
		if int64(len(list)) != a.Count {
			t.Fatalf("%s has %d values of %d", name, len(list), a.Count)
		}
	}
	return a
}

func TestHistory(t *testing.T) {
	h := NewHistory()
	if a := ask(t, h, ""); a.Count != 0 {
		t.Errorf("an empty history has %d samples", a.Count)
	}
	const start = 1_800_000_000
	for i := range int64(5000) {
		if i == 4990 { // a second without a sample
			continue
		}
		h.add(start+i, map[string]string{"Queries": strconv.FormatInt(10*i, 10), "Uptime": "x"})
	}
	all := ask(t, h, "")
	if all.First != start+1400 || all.Count != 3600 {
		t.Fatalf("first %d, count %d", all.First-start, all.Count)
	}
	sum, unknowns := int64(0), 0
	for _, v := range all.Values["Queries"] {
		if v == nil {
			unknowns++
		} else {
			sum += *v
		}
	}
	if sum != 49990 || unknowns != 1 || all.Values["Uptime"][0] != nil {
		t.Errorf("sum %d, %d unknown, %v", sum, unknowns, all.Values["Uptime"][0])
	}
	if a := ask(t, h, "?after="+strconv.Itoa(start+4997)); a.Count != 2 || *a.Values["Queries"][0] != 49980 || *a.Values["Queries"][1] != 10 {
		t.Errorf("%+v", a)
	}
	if a := ask(t, h, "?step=60"); a.First%60 != 0 || a.Count != 60 || *a.Values["Queries"][1] != 600 {
		t.Errorf("first %d, count %d", a.First, a.Count)
	}
	if a := ask(t, h, "?after="+strconv.Itoa(start+9999)); a.Count != 0 {
		t.Errorf("%d samples of the future", a.Count)
	}
	h.add(start, map[string]string{"Queries": "1"}) // the clock was set back
	if a := ask(t, h, ""); a.Count != 1 || a.First != start {
		t.Errorf("%+v", a)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/v1/history?step=-1", nil))
	if w.Code != http.StatusBadRequest {
		t.Errorf("status %d for step=-1", w.Code)
	}
}

func BenchmarkHistory(b *testing.B) {
	h := NewHistory()
	status := map[string]string{}
	for _, name := range series {
		status[name] = "123456789"
	}
	for i := range int64(historySize) {
		h.add(1_800_000_000+i, status)
	}
	b.Run("sample", func(b *testing.B) {
		b.ReportAllocs()
		for i := range int64(b.N) {
			h.add(1_900_000_000+i, status)
		}
	})
	b.Run("last", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			h.answer(h.last-1, 1)
		}
	})
	b.Run("all", func(b *testing.B) {
		for range b.N {
			h.answer(0, 5)
		}
	})
}
