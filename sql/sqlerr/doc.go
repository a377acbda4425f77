// Package sqlerr is the one table of MySQL errors: number, SQLSTATE and
// message, as in the MySQL 8.4 Server Error Message Reference.
//
// Every user-visible error is made by a constructor of this package, which
// stands together with its number, state and format. Conditions of lower
// layers are translated where they meet SQL. Nobody parses messages.
package sqlerr
