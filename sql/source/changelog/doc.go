// Package changelog shows derived tables as if their rows were stored: the change log
// of a table (stream()), its earlier versions, and its rows as they were (AS OF). So
// everything that reads a table reads these.
package changelog
