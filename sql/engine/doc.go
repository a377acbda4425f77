// Package engine is what a server has once: its store and catalog, global
// variables, connections, memory, statistics, schema changes, search indexes,
// query logs, and the jobs in the background.
//
// It knows neither statements nor sessions; these are built on it. What needs
// statements, such as the removal of expired rows, runs as a job that a package
// above starts by Engine.Jobs.
//
//   - I1. All methods may be called concurrently.
//   - I2. Close ends all jobs before it saves what they may change.
package engine
