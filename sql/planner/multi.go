package planner

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// multiUpdate plans UPDATE of tables of a join: the input is laid out as the
// columns of each target, then what else the assignments read.
func (p *planner) multiUpdate(s *logical.MultiUpdate) (*physical.Plan, error) {
	var scans []*logical.Scan
	reads := map[expr.ColID]bool{}
	for _, t := range s.Targets {
		scans = append(scans, t.Scan)
		for _, a := range t.Assignments {
			if a.Value != nil {
				reads = p.addReads(reads, a.Value)
			}
		}
		if t.Check != nil {
			reads = p.addReads(reads, t.Check.Conds...)
		}
	}
	plan, cols, err := p.multiInput(s.Input, scans, reads)
	if err != nil {
		return nil, err
	}
	up := &physical.MultiUpdate{Ignore: s.Ignore}
	at := 0
	for _, t := range s.Targets {
		list, err := placeAssignments(t.Assignments, ids(cols))
		if err != nil {
			return nil, err
		}
		target := physical.UpdateTarget{Table: t.Scan.Table, At: at, Assignments: list}
		if c := t.Check; c != nil {
			target.Check = &physical.RowCheck{DB: c.DB, View: c.View}
			if target.Check.Conds, err = placeAll(c.Conds, ids(cols)); err != nil {
				return nil, err
			}
		}
		up.Targets = append(up.Targets, target)
		at += len(t.Scan.Cols)
	}
	plan.Change = up
	return plan, nil
}

// multiDelete plans DELETE from tables of a join.
func (p *planner) multiDelete(s *logical.MultiDelete) (*physical.Plan, error) {
	plan, _, err := p.multiInput(s.Input, s.Targets, nil)
	if err != nil {
		return nil, err
	}
	del := &physical.MultiDelete{Ignore: s.Ignore}
	at := 0
	for _, t := range s.Targets {
		del.Targets = append(del.Targets, physical.DeleteTarget{Table: t.Table, At: at})
		at += len(t.Cols)
	}
	plan.Change = del
	return plan, nil
}

// multiInput plans the input of a change of several tables: all columns of the
// targets, one after the other, then those of reads that are not among them.
func (p *planner) multiInput(input logical.Node, targets []*logical.Scan, reads map[expr.ColID]bool) (*physical.Plan, []logical.Column, error) {
	var cols []logical.Column
	var writes []*schema.Table
	have := map[expr.ColID]bool{}
	add := func(c logical.Column) {
		if !have[c.ID] {
			have[c.ID] = true
			cols = append(cols, c)
		}
	}
	for _, t := range targets {
		writes = append(writes, t.Table)
		for _, c := range t.Cols {
			add(c)
		}
	}
	for _, c := range input.Columns() {
		if reads[c.ID] {
			add(c)
		}
	}
	root, err := p.rootOf(input, cols, nil)
	if err != nil {
		return nil, nil, err
	}
	plan, err := p.finish(&physical.Plan{Root: root, Writes: writes})
	return plan, cols, err
}

// placeAssignments fixes the columns of assignments to their positions.
func placeAssignments(list []logical.Assignment, layout []expr.ColID) ([]physical.Assignment, error) {
	out := make([]physical.Assignment, len(list))
	for i, a := range list {
		out[i] = physical.Assignment{Column: a.Column, Default: a.Default}
		if a.Value == nil {
			continue
		}
		var err error
		if out[i].Value, err = place(a.Value, layout); err != nil {
			return nil, err
		}
	}
	return out, nil
}
