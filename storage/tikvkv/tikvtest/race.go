//go:build race

package tikvtest

import "github.com/tikv/client-go/v2/config"

// client-go writes a count for its statistics (LockKeysDetails.RegionNum) without a
// lock when calls to two regions meet region errors at once. The race detector would
// blame the test for it: under it, a client calls one region after another.
func init() {
	config.UpdateGlobal(func(c *config.Config) { c.CommitterConcurrency = 1 })
}
