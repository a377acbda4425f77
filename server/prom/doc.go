// Package prom answers /metrics, in the formats of Prometheus and OpenMetrics.
//
// A Handler holds no numbers. It reads those of the engine, the store and the wire when it is
// scraped, so that statements pay nothing for it. docs/metrics.md lists all metrics; a
// test compares it with the definitions in names.go.
package prom
