// Package planner turns a bound statement into a physical plan: rewrite rules,
// then access paths, join order and operators by cost.
//
// Plan is its only entry. The phases live in sub-packages: bind (before this
// one), logical, rewrite, access, cost and physical. This package walks the
// logical plan and builds the physical one bottom-up; what a node wants of its
// input (columns, an order, a number of rows) goes down as a request, what it
// gets (layout, order, estimates) comes up as a rel.
package planner
