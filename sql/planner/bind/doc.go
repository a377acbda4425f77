// Package bind turns a parsed statement into a bound one: names become column
// ids and table descriptors, expressions get types, and what MySQL checks
// before it runs a statement is checked, with its error numbers.
//
// # Model
//
// A query block is bound in MySQL's order: FROM, WHERE, GROUP BY, select list,
// HAVING, ORDER BY, LIMIT. Each block has a scope; scopes nest, so that a name
// that is not found inside is looked for outside. Subqueries in expressions
// become expr.Subquery with their plans in a list. What is found outside crosses
// the border of each subquery on the way as an outer value: an expression of
// the block around (Subquery.Outer) that the plan inside reads as expr.Outer. A
// join whose right side has LATERAL tables that read the left one is an Apply,
// with the same kind of border.
//
// SHOW and DESCRIBE are queries over virtual tables, see logical.ShowDatabase for the list
// of names, arguments and columns that the provider must know.
//
// # Invariants
//
//	I1  Every expr.Col in a bound query has the id of a column that its node's
//	    inputs yield.
//	I2  Nothing that a statement requests is dropped silently: what has
//	    no meaning here is an error (1235), unless MySQL itself ignores it.
//	I3  bind reads the catalog and changes nothing; the same statement over the
//	    same snapshot binds to the same plan.
//
// The package does not rewrite plans and does not evaluate expressions.
package bind
