// Package priv is what accounts may do: privileges, who has which, and whether they
// suffice for a statement. It follows MySQL 8.4 (Access Control and Account Management).
//
// # Model
//
// A Mask is a set of static privileges, Dynamics one of dynamic privileges. Grants is
// what one authorization id, an account or a role, was granted: for everything, for
// databases by pattern, for tables, for columns, and roles. State has the grants of all
// ids at one moment. A Set is what one account may do with the roles that are active: its
// own grants and those of the roles. Needs is what a statement requires.
//
// # Promises
//
//	P1  State, Set and Needs do not change once they are in use. Grants are
//	    changed in a copy.
//	P2  A Set that was made of a State allows exactly what the State says:
//	    a change of any grant makes a new State, whose Sets are others.
//	P3  Check takes no locks and allocates only for a refusal.
//
// Names of databases and tables are compared byte by byte, those of columns without
// regard to case, like in the catalog.
package priv
