package sqllogic

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
	"github.com/sqlots/sqlots/tool/slt"
)

const scripts = "../../testdata/sqllogic"

// bigFile is the size in bytes above which a script runs in a part of the
// matrix only.
const bigFile = 90 << 10

// manyRows are scripts whose tables make thousands of files where operators spill
// after a few rows. Only -long takes that time.
var manyRows = []string{
	"errors/limit_edges", "foreign_keys/memory", "group/percentile", "order/ordered_merge", "search/aggregate", "search/best", "search/paging",
	"search/places", "search/scores", "spill/decimals", "spill/multi_change", "spill/spill", "window/large",
}

// slow are scripts that -short leaves out, and -long alone runs in more than one
// configuration: together they would take half of the time.
var slow = []string{
	"admin/key_ranges", "columnar/limits", "columnar/star", "dynamic/limits", "errors/limit_edges", "foreign_keys/delete_limit", "foreign_keys/memory", "functions/json_schema_depth", "group/percentile", "indexes/multivalued", "order/ordered_merge",
	"search/aggregate", "search/array_extract", "search/best", "search/nested_forms", "search/nested_text", "search/paging", "search/path", "search/places", "search/scores", "spill/decimals", "spill/multi_change", "spill/spill", "tools/exporter", "transactions/serializable", "transactions/transactions",
	"window/large", "with/recursive_outer",
}

// batchSizes are rows per batch in the executor: one, the smallest that has a
// remainder, and what a server uses.
var batchSizes = []int{1, 3, 1024}

// configuration is one cell of the matrix.
type configuration struct {
	engine    string
	batchSize int
	protocol  slt.Protocol
	// spills: operators spill rows as soon as they hold some.
	spills bool
}

func TestMain(m *testing.M) { testflag.Main(m) }

// cell is the name of the subtest below that of the engine.
func (c configuration) cell() string {
	name := fmt.Sprintf("batch%d/%s", c.batchSize, c.protocol)
	if c.spills {
		name += "/spills"
	}
	return name
}

// reduced has each value of each dimension once.
var reduced = []configuration{{"memkv", 1024, slt.Text, false}, {"pebblekv", 3, slt.Binary, true}}

// onTiKV is the store in a cluster.
var onTiKV = configuration{"tikv", 1024, slt.Text, false}

// matrix gives the configurations of a run. -short takes half of the scripts in one, and
// some in the cluster, of which -long alone runs all. -long takes half of all, which has
// each pair of values of two dimensions, and one on a store that behaves as one on other
// machines; with -rounds 2 the other half too.
func matrix() []configuration {
	half := append(halfOf(0), configuration{"far", 1024, slt.Text, false}, onTiKV)
	if testflag.Rounds(1, 1, 1) > 1 {
		return append(half, halfOf(1)...)
	}
	return testflag.Pick([]configuration{reduced[0], onTiKV}, append(slices.Clip(reduced), onTiKV), half)
}

// halfOf are the configurations whose indexes of values have a sum that is even, or odd.
func halfOf(odd int) []configuration {
	var out []configuration
	for i, engine := range []string{"memkv", "pebblekv"} {
		for j, size := range batchSizes {
			p := []slt.Protocol{slt.Text, slt.Binary}[(i+j+odd)%2]
			out = append(out, configuration{engine, size, p, size == 3})
		}
	}
	return out
}

// files lists the scripts with their sizes.
func files(t *testing.T) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	err := filepath.WalkDir(scripts, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".test" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[path] = info.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no scripts found")
	}
	return out
}

// start runs a server for the time of the test. The commits are not synced:
// crashes are tested elsewhere.
func start(t *testing.T, engine string) *server.Server {
	t.Helper()
	cfg := server.Config{InMemory: true, Listen: "127.0.0.1:0", Memory: 256 << 20, CheckPlans: true}
	if engine == "far" {
		cfg.MemoryStore = func() storage.Store { return errkv.NewFar(errkv.FarOptions{}) }
	}
	if engine == "tikv" {
		store := cluster(t)
		cfg.MemoryStore = func() storage.Store { return store }
	}
	if engine == "pebblekv" {
		cfg.InMemory, cfg.DataDir = false, t.TempDir()
	} else {
		cfg.NoFastPaths = true
	}
	if flag := os.Getenv("SQLOTS_FAST_PATHS"); flag != "" {
		cfg.NoFastPaths = flag == "off"
	}
	s := servertest.Open(t, cfg)
	// A server sets the collector's limit by its own budget; here are two, and their
	// clients.
	debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() {
		if err := s.Stop(10 * time.Second); err != nil {
			t.Errorf("stopping %s: %v", engine, err)
		}
	})
	// Scripts look at rows that have expired.
	conn, err := configuration{batchSize: 1024}.open(s.Addr(), "")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.(driver.ExecerContext).ExecContext(t.Context(), "SET GLOBAL sqlots_ttl_job_enable = OFF", nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// cluster opens a store in a TiKV cluster of this process. The server closes it.
func cluster(t *testing.T) storage.Store {
	t.Helper()
	c, err := tikvtest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := c.Join(t.Context(), "scripts")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// open connects and sets how the executor works.
func (c configuration) open(addr, script string) func(context.Context) (driver.Conn, error) {
	dial, err := slt.Opener("root@tcp(" + addr + ")/")
	return func(ctx context.Context) (driver.Conn, error) {
		if err != nil {
			return nil, err
		}
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		// The same plans on any number of processors.
		set := fmt.Sprintf("SET sqlots_parallelism = 2, sqlots_batch_size = %d", c.batchSize)
		if c.spills {
			bytes := 500
			if slices.Contains(manyRows, script) {
				bytes = testflag.Pick(100_000, 100_000, bytes)
			}
			set += fmt.Sprintf(", sqlots_spill_over = %d", bytes)
		}
		_, err = conn.(driver.ExecerContext).ExecContext(ctx, set, nil)
		if err != nil {
			conn.Close()
			return nil, fmt.Errorf("%s: %w", set, err)
		}
		return conn, nil
	}
}

// TestFiles runs the matrix, the engines at the same time.
func TestFiles(t *testing.T) {
	sizes := files(t)
	for _, path := range slices.Concat(manyRows, slow) {
		if _, ok := sizes[filepath.Join(scripts, path+".test")]; !ok {
			t.Errorf("%s is no script", path)
		}
	}
	byEngine := map[string][]configuration{}
	for _, c := range matrix() {
		byEngine[c.engine] = append(byEngine[c.engine], c)
	}
	for engine, cells := range byEngine {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			addr := start(t, engine).Addr()
			some := testflag.Share(t, 2, 1, 1)
			if engine == onTiKV.engine {
				some = testflag.Share(t, 64, 12, 1)
			}
			for _, c := range cells {
				for i, path := range slices.Sorted(maps.Keys(sizes)) {
					if !some(i) || sizes[path] > bigFile && !slices.Contains(reduced, c) {
						continue
					}
					if slices.Contains(slow, name(path)) && testflag.Pick(true, c.engine != reduced[0].engine, false) {
						continue
					}
					t.Run(c.cell()+"/"+name(path), func(t *testing.T) {
						c.run(t, addr, path)
					})
				}
			}
		})
	}
}

func name(path string) string {
	rel, err := filepath.Rel(scripts, path)
	if err != nil {
		return path
	}
	return strings.TrimSuffix(filepath.ToSlash(rel), ".test")
}

// finish compares rows and index entries of all tables that a script leaves. One
// configuration of each engine does.
func (c configuration) finish() func(context.Context, driver.Conn, string) error {
	if c.batchSize != 1024 || c.protocol != slt.Text || c.spills {
		return nil
	}
	return func(ctx context.Context, conn driver.Conn, database string) error {
		tables, err := texts(ctx, conn, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA = '"+database+"'", 0)
		if err != nil {
			return err
		}
		for _, t := range tables {
			messages, err := texts(ctx, conn, "CHECK TABLE `"+database+"`.`"+strings.ReplaceAll(t, "`", "``")+"`", 3)
			if err != nil {
				return err
			}
			if !slices.Equal(messages, []string{"OK"}) {
				return fmt.Errorf("table %s is damaged: %s", t, strings.Join(messages, "; "))
			}
		}
		return nil
	}
}

// texts is a column of a query's result.
func texts(ctx context.Context, conn driver.Conn, query string, col int) (out []string, err error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	vals := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(vals); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		out = append(out, fmt.Sprintf("%s", vals[col]))
	}
}

// fileTimeout ends a script that hangs in one configuration: the race detector on a
// busy machine makes a minute of some seconds.
const fileTimeout = 5 * time.Minute

func (c configuration) run(t *testing.T, addr, path string) {
	ctx, cancel := context.WithTimeout(context.Background(), fileTimeout)
	defer cancel()
	report, err := slt.RunFile(ctx, path, slt.Options{Open: c.open(addr, name(path)), Engines: []string{"mysql", "sqlots", c.engine}, Protocol: c.protocol, Finish: c.finish()})
	for _, f := range report.Failures {
		t.Errorf("%s:%d: %s\n%s", f.File, f.Line, f.Reason, f.SQL)
	}
	if more := report.Failed - len(report.Failures); more > 0 {
		t.Errorf("and %d more", more)
	}
	if err != nil {
		t.Error(err)
	}
	if report.OK+report.Failed == 0 {
		t.Error("the script ran no records")
	}
}
