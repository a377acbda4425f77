// Package plantest helps tests that ask one question by many plans: it lists
// sets of switches for planner.Options.Disabled. All must give the same rows.
package plantest
