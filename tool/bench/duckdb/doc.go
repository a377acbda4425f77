// Command duckdb puts the questions of `sqlots bench columns` to a server and to
// DuckDB, which it runs in its own process and fills with the same rows. It is a
// module of its own, as DuckDB is a C++ library: building it needs cgo.
package main
