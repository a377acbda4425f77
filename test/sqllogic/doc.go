// Package sqllogic runs the scripts of testdata/sqllogic against servers that
// it starts itself, over a matrix of storage engines, batch sizes and
// protocols. The same statements must give the same answers everywhere.
//
// On memkv the fast paths of point and page reads are off, so that the same
// script shows whether they give what the operators give; SQLOTS_FAST_PATHS=on
// or off sets them for all engines.
//
// TestPlans explains the queries of the scripts instead, and compares the plans with
// testdata/plans, without estimates. A change of the planner shows there which of some
// thousand queries it reaches: "go test ./test/sqllogic -run TestPlans -args -update"
// writes them again, and digests of the tables' descriptors. TestRecorded of sql/planner keeps digests of what becomes of the
// same statements before they run; it is updated in the same way.
//
// It holds only tests. "go test ./test/sqllogic -run 'TestFiles/pebblekv/.*/join'"
// runs a part; "sqlots slt" runs the same files against any server.
package sqllogic
