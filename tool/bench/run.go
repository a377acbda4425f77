package bench

import (
	"context"
	"errors"
	"fmt"
)

// run runs what the command line selects.
func (c *command) run(ctx context.Context) (err error) {
	targets, err := c.open(ctx)
	defer func() {
		for _, t := range targets {
			err = errors.Join(err, t.close())
		}
	}()
	if err != nil {
		return err
	}
	for _, t := range targets {
		c.printf("%s", t)
		c.report.Targets = append(c.report.Targets, t.String())
	}
	if c.verb == "load" {
		return c.loadAll(ctx, targets)
	}
	return c.measureAll(ctx, targets)
}

func (c *command) open(ctx context.Context) ([]*target, error) {
	a, err := openTarget(ctx, "A", c.dsn, c.pid)
	if err != nil {
		return nil, err
	}
	if c.compare == "" {
		return []*target{a}, nil
	}
	b, err := openTarget(ctx, "B", c.compare, c.pid2)
	if err != nil {
		return []*target{a}, err
	}
	return []*target{a, b}, nil
}

func (c *command) loadAll(ctx context.Context, targets []*target) error {
	c.report.Sizes = c.load.sizes
	for _, t := range targets {
		result, err := load(ctx, t, c.load)
		if err != nil {
			return fmt.Errorf("target %s: %w", t.name, err)
		}
		c.printf("%s", result)
		c.report.Loads = append(c.report.Loads, result)
	}
	if len(targets) == 2 {
		l := c.report.Loads
		c.printf("load rate A/B: %.2f", ratio(l[0].RowsPerSecond, l[1].RowsPerSecond))
	}
	return nil
}

// measureAll goes through workloads and numbers of connections, measuring the
// targets in turn.
func (c *command) measureAll(ctx context.Context, targets []*target) error {
	sizes, err := commonSizes(ctx, targets)
	if err != nil {
		return err
	}
	c.report.Sizes = sizes
	c.printf("%d rows, %d cells, %d stations", sizes.Rows, sizes.Cells, sizes.Stations)
	w := newWorld(newDataset(sizes))
	states := make([]*state, len(targets))
	for i, t := range targets {
		if states[i], err = newState(ctx, t, w); err != nil {
			return err
		}
		if !states[i].pristine {
			c.printf("%s: the table has been changed since load; answers are checked less strictly", t.name)
		}
	}
	if len(targets) == 1 {
		c.printf("%s", measurementHead)
	} else {
		c.printf("%s", comparisonHead)
	}
	for i := range c.chosen {
		wl := &c.chosen[i]
		if err := setup(ctx, targets, w, wl); err != nil {
			return err
		}
		if !wl.writes && !c.verified(ctx, targets, states, w, wl) {
			continue
		}
		if err := c.measureWorkload(ctx, targets, states, w, wl); err != nil {
			return err
		}
	}
	return nil
}

func setup(ctx context.Context, targets []*target, w *world, wl *workload) error {
	if wl.setup == nil {
		return nil
	}
	for _, t := range targets {
		if err := wl.setup(ctx, t, w.dataset); err != nil {
			return fmt.Errorf("target %s: %w", t.name, err)
		}
	}
	return nil
}

// commonSizes reads what has been loaded, which must be the same everywhere.
func commonSizes(ctx context.Context, targets []*target) (Sizes, error) {
	var first Sizes
	for i, t := range targets {
		s, err := readInfo(ctx, t.db)
		if err != nil {
			return Sizes{}, fmt.Errorf("target %s: %w", t.name, err)
		}
		if i == 0 {
			first = s
		} else if s != first {
			return Sizes{}, fmt.Errorf("the targets have different data: %+v and %+v", first, s)
		}
	}
	return first, nil
}

// verified reports whether the answers of a reading workload are right. One that
// answers wrongly is reported and not measured: speed would mean nothing.
func (c *command) verified(ctx context.Context, targets []*target, states []*state, w *world, wl *workload) bool {
	for i, t := range targets {
		if c.check && states[i].pristine {
			if err := verifyTruth(ctx, t, w, wl); err != nil {
				return c.reject(err)
			}
		}
	}
	if c.verify > 0 {
		n := c.verify
		if wl.heavy {
			n = min(n, 5)
		}
		if err := verifyPair(ctx, targets[0], targets[1], w, wl, n); err != nil {
			return c.reject(err)
		}
	}
	return true
}

func (c *command) reject(err error) bool {
	c.printf("NOT MEASURED: %v", err)
	c.failed = true
	return false
}

func (c *command) measureWorkload(ctx context.Context, targets []*target, states []*state, w *world, wl *workload) error {
	done := map[int]bool{}
	for _, conns := range c.connsOf {
		if wl.heavy {
			conns = min(conns, c.maxHeavy)
		}
		if done[conns] {
			continue
		}
		done[conns] = true
		rounds := make([][]measurement, len(targets))
		for round := 1; round <= c.rounds; round++ {
			for i, t := range targets {
				m, err := measure(ctx, t, w, wl, conns, c.plan, states[i])
				if err != nil {
					return fmt.Errorf("target %s: %w", t.name, err)
				}
				m.Round = round
				rounds[i] = append(rounds[i], m)
				c.failed = c.failed || m.Errors > 0
			}
		}
		for i := range targets {
			c.report.Measurements = append(c.report.Measurements, rounds[i]...)
		}
		if len(targets) == 1 {
			c.printf("%s", medians(rounds[0]))
			continue
		}
		cmp := newComparison(rounds[0], rounds[1])
		c.report.Comparisons = append(c.report.Comparisons, cmp)
		c.printf("%s", cmp)
	}
	return nil
}
