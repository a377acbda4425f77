// Package cost is the cost model: nanoseconds of CPU for what plans do,
// from measurements of the engine (docs/decisions/cost-model.md).
package cost
