// Package infoschema makes the tables that describe the server:
// information_schema, performance_schema, mysql and sys as far as clients use
// them, and the answers of SHOW.
//
// # Model
//
// Each table is a definition (name, columns, a function that makes the rows)
// in one of the list functions. Rows are made again for each read from one
// catalog snapshot; nothing is stored. The handle of a virtual table holds the
// definition and the words of a SHOW statement but nothing of the session, so
// that plans with virtual tables can be shared.
//
// # Invariants
//
//	I1  Names, order and types of the columns are MySQL 8's; what sqlots does
//	    not have yields no rows, or the value of an idle MySQL.
//	I2  All rows of one read come from one catalog snapshot.
//	I3  Rows show no more than the account of the session may see, by MySQL's rules
//	    (visible.go), whoever has bound the statement. TestRules has the rule of each
//	    table, TestRulesOfShow that of each SHOW.
//
// Whether an account may read a table of mysql, performance_schema or sys at all is
// checked by the statement. It does not filter: LIKE and WHERE are the plan's.
package infoschema
