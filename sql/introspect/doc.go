// Package introspect shows an engine to information_schema and SHOW: it
// implements infoschema.Server over engine.Engine.
//
// Each method reads the state of the engine at the moment of the call. Nothing is
// changed, and nothing is kept between calls.
package introspect
