package damage

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestFiles damages all files of a kind in the same way, as when a folder was lost, or
// a disk: in some ways that the seed chooses, in half of them with -long.
func TestFiles(t *testing.T) {
	testflag.Normal(t)
	first := testflag.AnySeed(t)
	s := makeStates(t)[1]
	for kind, names := range filesOf(t, s.dir) {
		for i := range testflag.Pick(0, 1, (len(damages)+1)/2) {
			how := damages[(first+uint64(i))%uint64(len(damages))]
			t.Run(kind+"/"+strings.ReplaceAll(how.name, " ", "-"), func(t *testing.T) {
				dir := t.TempDir()
				copyDir(t, dir, s.dir)
				rng := rand.New(rand.NewPCG(testflag.Seed(1), 1))
				d := &damager{rng: rng, dir: dir, older: s.older, files: filesOf(t, dir)}
				var bad damaged
				for _, name := range names {
					d.apply(t, name, how.name, how.do, &bad)
				}
				if bad.names == nil {
					t.Skip("it changes nothing")
				}
				(&round{t: t, state: s, dir: dir, bad: bad, rng: rng}).run()
			})
		}
	}
}
