package planner

import "github.com/sqlots/sqlots/sql/planner/rewrite"

// Rules are the names of the rewrite rules, each of which Options.Disabled
// can switch off.
func Rules() []string {
	var names []string
	seen := map[string]bool{}
	for _, r := range rewrite.Rules() {
		if !seen[r.Name] {
			seen[r.Name] = true
			names = append(names, r.Name)
		}
	}
	return names
}

// Operators are the names of the operators and ways of access that
// Options.Disabled can switch off. Without IndexAccess tables are read whole.
func Operators() []string {
	return []string{"HashJoin", "LookupJoin", "MergeJoin", "StreamAggregate", "ParallelAggregate", "SortedDistinct", "MinMaxFromIndex", "IndexAccess",
		"IndexUnion", "IndexSortUnion", "IndexIntersection", "SkipScan", "OrderedMerge", "LooseIndexScan", "SearchIndex", "SearchAggregate", "GroupsFirst",
		"SemiJoinOrder"}
}
