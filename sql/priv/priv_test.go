package priv

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

func TestNames(t *testing.T) {
	if AllGlobal != 1<<len(maskNames)-1 || endDynamic != 1<<len(dynamicNames) {
		t.Fatal("names and constants differ in number")
	}
	if !slices.IsSorted(dynamicNames[:]) {
		t.Error("dynamic privileges are not in the order of their names")
	}
	for p := range AllGlobal.Each() {
		if Parse(p.Name()) != p {
			t.Errorf("%s", p.Name())
		}
	}
	for p := range AllDynamic.Each() {
		if ParseDynamic(strings.ToLower(p.Name())) != p {
			t.Errorf("%s", p.Name())
		}
	}
	if SystemVariablesAdmin.Name() != "SYSTEM_VARIABLES_ADMIN" || XARecoverAdmin.Name() != "XA_RECOVER_ADMIN" || DropRole.Name() != "DROP ROLE" {
		t.Error("a constant has another name")
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"shop", "shop", true}, {"shop", "Shop", false}, {"shop", "shops", false}, {"sho_", "shop", true}, {"sho_", "shö", false},
		{"sh_", "shö", true}, {`a\_b`, "a_b", true}, {`a\_b`, "axb", false}, {"a_b", "axb", true}, {"%", "", true}, {"%", "x", true},
		{"a%b%c", "axxbyyc", true}, {"a%b%c", "axxbyy", false}, {`a\%`, "a%", true}, {`a\%`, "ab", false}, {"%a", "bab", false}, {"%a", "baa", true},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("%q, %q: %v", c.pattern, c.name, got)
		}
	}
}

func TestSpecificFirst(t *testing.T) {
	g := &Grants{}
	g.AddDatabase("%", Select)
	g.AddDatabase("a%", Insert)
	g.AddDatabase("ab_", Update)
	g.AddDatabase("abc", Delete)
	for db, want := range map[string]Mask{"abc": Delete, "abd": Update, "ax": Insert, "x": Select} {
		if got := g.OnDatabase(db); got != want {
			t.Errorf("%s: %v", db, got)
		}
	}
}

func TestStatements(t *testing.T) {
	g := &Grants{Name: Name{"a`b", "%"}, Global: Select | GrantOption, Dynamic: BackupAdmin | RoleAdmin, Grantable: RoleAdmin}
	g.AddDatabase("shop", AllDatabase)
	g.AddDatabase(`a\_b`, Select|LockTables)
	g.AddTable(Table{DB: "shop", Name: "orders", Mask: Insert, Columns: []Column{{"total", Select | Update}, {"id", Select}}})
	g.AddTable(Table{DB: "shop", Name: "all", Mask: AllTable})
	got := g.Statements([]Role{{Name: Name{"r", "%"}}, {Name: Name{"s", "%"}, Admin: true}})
	want := []string{
		"GRANT SELECT ON *.* TO `a``b`@`%` WITH GRANT OPTION",
		"GRANT BACKUP_ADMIN ON *.* TO `a``b`@`%`",
		"GRANT ROLE_ADMIN ON *.* TO `a``b`@`%` WITH GRANT OPTION",
		"GRANT SELECT, LOCK TABLES ON `a\\_b`.* TO `a``b`@`%`",
		"GRANT ALL PRIVILEGES ON `shop`.* TO `a``b`@`%` WITH GRANT OPTION",
		"GRANT ALL PRIVILEGES ON `shop`.`all` TO `a``b`@`%` WITH GRANT OPTION",
		"GRANT SELECT (`id`, `total`), INSERT, UPDATE (`total`) ON `shop`.`orders` TO `a``b`@`%`",
		"GRANT `r`@`%` TO `a``b`@`%`",
		"GRANT `s`@`%` TO `a``b`@`%` WITH ADMIN OPTION",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	b, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	back := &Grants{}
	if err := json.Unmarshal(b, back); err != nil || !reflect.DeepEqual(back, g) {
		t.Errorf("%v: %s gives %+v", err, b, back)
	}
}

// model is what the test knows of grants: a list that is walked.
type model struct {
	ids   []Name
	facts map[fact]bool
	roles map[[2]Name]bool
}

// fact is one privilege of an id on something.
type fact struct {
	id           Name
	db, tbl, col string
	privilege    Mask
}

// closure are an id and the roles that it has, or that these have.
func (m *model) closure(id Name, active []Name) map[Name]bool {
	out := map[Name]bool{id: true}
	todo := slices.Clone(active)
	for len(todo) > 0 {
		r := todo[0]
		todo = todo[1:]
		if out[r] {
			continue
		}
		out[r] = true
		for _, x := range m.ids {
			if m.roles[[2]Name{r, x}] {
				todo = append(todo, x)
			}
		}
	}
	return out
}

// allows says whether a privilege is granted at any level that covers it. Patterns are
// plain names here, so that no specific one hides another.
func (m *model) allows(id Name, active []Name, p Mask, db, tbl, col string) bool {
	for f := range m.facts {
		if f.privilege != p || !m.closure(id, active)[f.id] {
			continue
		}
		if f.db == "" || f.db == db && f.tbl == "" || f.db == db && f.tbl == tbl && f.col == "" || f.db == db && f.tbl == tbl && f.col == col && col != "" {
			return true
		}
	}
	return false
}

// TestAgainstModel grants and revokes at random and compares with the walked list.
func TestAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(testflag.Seed(1), 1))
	dbs, tables, columns := []string{"a", "b"}, []string{"t", "u"}, []string{"x", "y", "z"}
	privileges := []Mask{Select, Insert, Update, Delete, Drop}
	m := &model{facts: map[fact]bool{}, roles: map[[2]Name]bool{}}
	grants := map[Name]*Grants{}
	for i := range 6 {
		n := Name{fmt.Sprint("u", i), "%"}
		m.ids = append(m.ids, n)
		grants[n] = &Grants{Name: n}
	}
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	for step := range 4000 {
		id := m.ids[rng.IntN(len(m.ids))]
		g := grants[id].Clone()
		p := privileges[rng.IntN(len(privileges))]
		revoke := rng.IntN(2) == 0
		f := fact{id: id, privilege: p}
		switch rng.IntN(5) {
		case 0:
			if revoke {
				g.Global &^= p
			} else {
				g.Global |= p
			}
		case 1:
			f.db = pick(dbs)
			if revoke {
				g.RemoveDatabase(f.db, p)
			} else {
				g.AddDatabase(f.db, p)
			}
		case 2:
			f.db, f.tbl = pick(dbs), pick(tables)
			if revoke {
				g.RemoveTable(Table{DB: f.db, Name: f.tbl, Mask: p})
				for x := range m.facts {
					if x.id == id && x.db == f.db && x.tbl == f.tbl && x.privilege == p {
						delete(m.facts, x)
					}
				}
			} else {
				g.AddTable(Table{DB: f.db, Name: f.tbl, Mask: p})
			}
		case 3:
			if p&AllColumn == 0 {
				continue
			}
			f.db, f.tbl, f.col = pick(dbs), pick(tables), pick(columns)
			x := Table{DB: f.db, Name: f.tbl, Columns: []Column{{f.col, p}}}
			if revoke {
				g.RemoveTable(x)
			} else {
				g.AddTable(x)
			}
		case 4:
			r := m.ids[rng.IntN(len(m.ids))]
			st := NewState(mapValues(grants), nil)
			if revoke {
				g.RemoveRole(r)
				delete(m.roles, [2]Name{id, r})
			} else if !st.Reaches(r, id) {
				g.AddRole(Role{Name: r})
				m.roles[[2]Name{id, r}] = true
			}
			f.privilege = 0
		}
		grants[id] = g
		if f.privilege != 0 {
			if revoke {
				delete(m.facts, f)
			} else {
				m.facts[f] = true
			}
		}
		if step%20 != 0 {
			continue
		}
		m.compare(t, rng, NewState(mapValues(grants), nil), dbs, tables, columns, privileges)
	}
}

func mapValues(m map[Name]*Grants) (out []*Grants) {
	for _, g := range m {
		out = append(out, g)
	}
	return out
}

// compare checks everything with the set of a random account.
func (m *model) compare(t *testing.T, rng *rand.Rand, st *State, dbs, tables, columns []string, privileges []Mask) {
	t.Helper()
	id := m.ids[rng.IntN(len(m.ids))]
	var active []Name
	for _, r := range st.RolesOf(id) {
		if rng.IntN(2) == 0 {
			active = append(active, r.Name)
		}
	}
	set := st.Set(id, active)
	if set != st.Set(id, active) {
		t.Fatal("two sets of one account")
	}
	for _, db := range dbs {
		for _, tbl := range tables {
			for _, p := range privileges {
				want := m.allows(id, active, p, db, tbl, "")
				if got := set.Check(&Needs{Tables: []TableNeed{{DB: db, Table: tbl, Mask: p}}}) == nil; got != want {
					t.Fatalf("%v with %v: %v on %s.%s is %v", id, active, p, db, tbl, got)
				}
				if p&AllColumn == 0 {
					continue
				}
				some := want
				for _, col := range columns {
					want := m.allows(id, active, p, db, tbl, col)
					some = some || want
					d := set.Check(&Needs{Tables: []TableNeed{{DB: db, Table: tbl, Columns: []ColumnNeed{{Name: col, Mask: p}}}}})
					if (d == nil) != want {
						t.Fatalf("%v with %v: %v on %s.%s.%s is %v", id, active, p, db, tbl, col, d == nil)
					}
					if got := set.OnColumn(db, tbl, col)&p != 0; got != want {
						t.Fatalf("%v with %v: OnColumn of %v on %s.%s.%s is %v", id, active, p, db, tbl, col, got)
					}
				}
				if got := set.Check(&Needs{Tables: []TableNeed{{DB: db, Table: tbl, AnyColumn: p}}}) == nil; got != some {
					t.Fatalf("%v with %v: %v on some column of %s.%s is %v", id, active, p, db, tbl, got)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	a := Name{"a", "%"}
	g := &Grants{Name: a}
	g.AddTable(Table{DB: "shop", Name: "orders", Mask: Insert, Columns: []Column{{"id", Select}}})
	definer := &Grants{Name: Name{"d", "%"}}
	definer.AddDatabase("shop", Select)
	s := NewState([]*Grants{g, definer}, nil).Set(a, nil)
	for _, c := range []struct {
		need Needs
		want string
	}{
		{Needs{Tables: []TableNeed{{DB: "shop", Table: "orders", Columns: []ColumnNeed{{Name: "ID", Mask: Select}}}}}, "<nil>"},
		{Needs{Tables: []TableNeed{{DB: "shop", Table: "orders", Columns: []ColumnNeed{{Name: "id", Mask: Select}, {Name: "total", Mask: Select}}}}}, "{NeedsOneOf: Global:false DB:shop Table:orders Column:total Command:SELECT Explain:false ViewDB: View: NoDefiner:<nil>}"},
		{Needs{Tables: []TableNeed{{DB: "shop", Table: "orders", Columns: []ColumnNeed{{Name: "id", Mask: Select}, {Name: "total", Mask: Select, Unnamed: true}}}}}, "{NeedsOneOf: Global:false DB:shop Table:orders Column: Command:SELECT Explain:false ViewDB: View: NoDefiner:<nil>}"},
		{Needs{Tables: []TableNeed{{DB: "shop", Table: "orders", AnyColumn: Update, Columns: []ColumnNeed{{Name: "total", Mask: Update}}}}}, "{NeedsOneOf: Global:false DB:shop Table:orders Column: Command:UPDATE Explain:false ViewDB: View: NoDefiner:<nil>}"},
		{Needs{Tables: []TableNeed{{DB: "shop", Table: "orders", AnyColumn: Select}}}, "<nil>"},
		{Needs{Tables: []TableNeed{{DB: "shop", Table: "other", AnyColumn: Select}}}, "{NeedsOneOf: Global:false DB:shop Table:other Column: Command:SELECT Explain:false ViewDB: View: NoDefiner:<nil>}"},
		{Needs{Tables: []TableNeed{{DB: "shop", Table: "orders", Mask: Select | LockTables}}}, "{NeedsOneOf: Global:false DB:shop Table: Column: Command: Explain:false ViewDB: View: NoDefiner:<nil>}"},
		{Needs{Databases: []DatabaseNeed{{DB: "shop", Any: true}}}, "<nil>"},
		{Needs{Databases: []DatabaseNeed{{DB: "shop", Mask: Create}}}, "{NeedsOneOf: Global:false DB:shop Table: Column: Command: Explain:false ViewDB: View: NoDefiner:<nil>}"},
		{Needs{Global: []GlobalNeed{{Mask: Super, Dynamic: SystemVariablesAdmin | RoleAdmin}}}, "{NeedsOneOf:SUPER, ROLE_ADMIN or SYSTEM_VARIABLES_ADMIN Global:false DB: Table: Column: Command: Explain:false ViewDB: View: NoDefiner:<nil>}"},
		{Needs{Global: []GlobalNeed{{Mask: File, Denied: true}}}, "{NeedsOneOf: Global:true DB: Table: Column: Command: Explain:false ViewDB: View: NoDefiner:<nil>}"},
		{Needs{Views: []ViewNeeds{{DB: "shop", View: "v", Definer: Name{"d", "%"}, Needs: &Needs{Tables: []TableNeed{{DB: "shop", Table: "x", Mask: Select}}}}}}, "<nil>"},
		{Needs{Views: []ViewNeeds{{DB: "shop", View: "v", Invoker: true, Needs: &Needs{Tables: []TableNeed{{DB: "shop", Table: "x", Mask: Select}}}}}}, "{NeedsOneOf: Global:false DB: Table: Column: Command: Explain:false ViewDB:shop View:v NoDefiner:<nil>}"},
	} {
		got := "<nil>"
		if d := s.Check(&c.need); d != nil {
			got = fmt.Sprintf("%+v", *d)
		}
		if got != c.want {
			t.Errorf("%+v\n got %s\nwant %s", c.need, got, c.want)
		}
	}
	gone := &Needs{Views: []ViewNeeds{{DB: "shop", View: "v", Definer: Name{"x", "%"}}}}
	if d := s.Check(gone); d == nil || d.NoDefiner == nil || d.NoDefiner.User != "x" {
		t.Errorf("a definer that does not exist: %+v", d)
	}
	if d := Everything.Check(gone); d != nil {
		t.Errorf("the server itself: %+v", d)
	}
}

func TestRoles(t *testing.T) {
	u, r1, r2, m := Name{"u", "%"}, Name{"r1", "%"}, Name{"r2", "%"}, Name{"m", "%"}
	gu, g1, g2, gm := &Grants{Name: u}, &Grants{Name: r1}, &Grants{Name: r2, Global: Select}, &Grants{Name: m, Global: Insert}
	gu.AddRole(Role{Name: r1})
	g1.AddRole(Role{Name: r2, Admin: true})
	st := NewState([]*Grants{gu, g1, g2, gm}, []Name{m, {"gone", "%"}})
	if got := fmt.Sprint(st.AllRoles(u)); got != "[`m`@`%` `r1`@`%`]" {
		t.Error(got)
	}
	if got := st.Set(u, []Name{r1}).Global(); got != Select {
		t.Errorf("by a role of a role: %v", got)
	}
	if got := st.Set(u, st.AllRoles(u)).Global(); got != Select|Insert {
		t.Errorf("with the mandatory role: %v", got)
	}
	if len(st.DefaultRoles(u)) != 0 {
		t.Error("no default role was set")
	}
	gu.SetDefault([]Name{r1, {"gone", "%"}})
	if got := fmt.Sprint(st.DefaultRoles(u)); got != "[`r1`@`%`]" {
		t.Error(got)
	}
	if !st.Reaches(u, r2) || st.Reaches(r2, u) {
		t.Error("Reaches")
	}
	gu.RenameRole(r1, r2)
	if gu.HasRole(r1) != nil || gu.HasRole(r2) == nil || !slices.Contains(gu.Default, r2) {
		t.Errorf("renamed: %+v", gu)
	}
}

func BenchmarkCheck(b *testing.B) {
	a := Name{"a", "%"}
	g := &Grants{Name: a}
	for i := range 100 {
		g.AddTable(Table{DB: "shop", Name: fmt.Sprint("t", i), Mask: Select})
	}
	root := &Grants{Name: Name{"root", "%"}, Global: AllGlobal}
	st := NewState([]*Grants{g, root}, nil)
	need := &Needs{Tables: []TableNeed{{DB: "shop", Table: "t50", Columns: []ColumnNeed{{Name: "id", Mask: Select}, {Name: "total", Mask: Select}}}}}
	for name, set := range map[string]*Set{"root": st.Set(root.Name, nil), "table": st.Set(a, nil)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if set.Check(need) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}

// BenchmarkMemory is what the grants of 10,000 accounts on 100 tables each take after they are
// read from the store: B/grant.
func BenchmarkMemory(b *testing.B) {
	const accounts, each = 10_000, 100
	var per float64
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		list := make([]*Grants, accounts)
		for i := range list {
			g := &Grants{Name: Name{fmt.Sprint("account", i), "%"}}
			for k := range each {
				g.AddTable(Table{DB: "shop", Name: fmt.Sprint("table", k), Mask: Select | Insert, By: "root@localhost", At: 1_764_000_000})
			}
			text, err := json.Marshal(g)
			if err != nil {
				b.Fatal(err)
			}
			list[i] = &Grants{}
			if err := json.Unmarshal(text, list[i]); err != nil {
				b.Fatal(err)
			}
		}
		st := NewState(list, nil)
		list = nil
		runtime.GC()
		runtime.ReadMemStats(&after)
		per = float64(after.HeapAlloc-before.HeapAlloc) / (accounts * each)
		runtime.KeepAlive(st)
	}
	b.ReportMetric(per, "B/grant")
}

func TestParseNames(t *testing.T) {
	for text, want := range map[string]string{
		"": "[]", " r ": "[`r`@`%`]", "r1, 'r 2'@'H' ,`r``3`@`%.net`": "[`r1`@`%` `r 2`@`h` `r``3`@`%.net`]", `"a"@b,c`: "[`a`@`b` `c`@`%`]",
	} {
		if got, err := ParseNames(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{",", "a,", "@h", "'a", "a@", "'a'b", "a@'b'c"} {
		if got, err := ParseNames(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
