package priv

import "strings"

// Statements are the GRANT statements that give what g has, in the order and form of
// SHOW GRANTS. roles are those of RolesOf.
func (g *Grants) Statements(roles []Role) []string {
	to := " TO " + g.Name.String()
	out := []string{withOption("GRANT "+g.Global.String()+" ON *.*"+to, g.Global)}
	if plain := g.Dynamic &^ g.Grantable; plain != 0 {
		out = append(out, "GRANT "+plain.String()+" ON *.*"+to)
	}
	if g.Grantable != 0 {
		out = append(out, "GRANT "+g.Grantable.String()+" ON *.*"+to+" WITH GRANT OPTION")
	}
	for _, d := range g.Databases {
		out = append(out, withOption("GRANT "+listOf(d.Mask, AllDatabase)+" ON "+quote(d.Pattern)+".*"+to, d.Mask))
	}
	for i := range g.Tables {
		t := &g.Tables[i]
		out = append(out, withOption("GRANT "+t.list()+" ON "+quote(t.DB)+"."+quote(t.Name)+to, t.Mask))
	}
	for _, admin := range []bool{false, true} {
		var names []string
		for _, r := range roles {
			if r.Admin == admin {
				names = append(names, r.Name.String())
			}
		}
		if names == nil {
			continue
		}
		line := "GRANT " + strings.Join(names, ",") + to
		if admin {
			line += " WITH ADMIN OPTION"
		}
		out = append(out, line)
	}
	return out
}

func withOption(text string, m Mask) string {
	if m&GrantOption != 0 {
		return text + " WITH GRANT OPTION"
	}
	return text
}

// listOf is the list of privileges, or ALL PRIVILEGES.
func listOf(m, all Mask) string {
	if m|GrantOption == all {
		return "ALL PRIVILEGES"
	}
	return m.String()
}

// list is the list of privileges on a table and on columns: SELECT (`id`), INSERT.
func (t *Table) list() string {
	if len(t.Columns) == 0 {
		return listOf(t.Mask, AllTable)
	}
	var list []string
	for p := range ((t.Mask | t.OfColumns()) &^ GrantOption).Each() {
		if t.Mask&p != 0 {
			list = append(list, p.Name())
		}
		var columns []string
		for _, c := range t.Columns {
			if c.Mask&p != 0 {
				columns = append(columns, quote(c.Name))
			}
		}
		if columns != nil {
			list = append(list, p.Name()+" ("+strings.Join(columns, ", ")+")")
		}
	}
	return strings.Join(list, ", ")
}

// Merged is what the account of s has with all that its active roles give, as if it were
// granted to it.
func (s *Set) Merged() *Grants {
	out := &Grants{Name: s.Account}
	for i, g := range s.ids {
		out.Global |= g.Global
		out.Dynamic |= g.Dynamic
		out.Grantable |= g.Grantable
		for _, d := range g.Databases {
			out.AddDatabase(d.Pattern, d.Mask)
		}
		for _, t := range g.Tables {
			out.AddTable(t)
		}
		if i == 0 {
			out.Roles = g.Roles
		}
	}
	return out
}
