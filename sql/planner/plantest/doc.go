// Package plantest helps tests that run one query by many plans: it lists sets of
// switches for planner.Options.Disabled. All must give the same rows.
package plantest
