// Package logical holds what a statement means: logical operators over bound
// expressions, and the plain structs of statements that are no queries.
//
// Columns are known by ids (expr.ColID) that are unique within the statement;
// expressions refer to them with expr.Col. A node computes its output columns
// from its inputs. Nodes are changed only by the phase that holds them: a
// rewrite makes new nodes.
package logical
