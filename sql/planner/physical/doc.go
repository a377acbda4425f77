// Package physical holds plans as data: what the executor builds operators
// from, and what EXPLAIN prints. It is the only place where planner and
// executor meet.
//
// Columns are positions: an expr.Col in a node's expressions has Index = the
// position in the node's input (for joins: left columns, then right). In a
// Scan it is the position in Scan.Cols. Plans are immutable once made and
// shared by sessions; whatever depends on one execution comes from
// parameters.
package physical
