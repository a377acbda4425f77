// Package rewrite holds the rules that always make a logical plan better, one
// rule a file, each with a name by which it can be switched off.
//
// Correlated subqueries and LATERAL tables become joins by four of them
// (ExistsToSemiJoin, InToSemiJoin, ScalarToJoin, ApplyToJoin; subqueries.go has
// what they share). These alone compare costs: a plan that reads little for each row
// of a small input beats a join with everything.
//
// A rule maps a plan to an equal plan: the same rows, the same columns with
// the same ids. After each rule the caller may check the plan with Verify.
package rewrite
