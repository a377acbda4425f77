// Package sqllogic runs the scripts of testdata/sqllogic against servers that
// it starts itself, over a matrix of storage engines, batch sizes and
// protocols. The same statements must give the same answers everywhere.
//
// It holds only tests. "go test ./sqllogic -run 'TestFiles/pebblekv/.*/join'"
// runs a part; "sqlots slt" runs the same files against any server.
package sqllogic
