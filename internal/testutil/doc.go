// Package testutil holds what tests of several packages need.
package testutil
