package job

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

func testRunner() (*Runner, *strings.Builder) {
	var log strings.Builder
	return New(slog.New(slog.NewTextHandler(&log, nil))), &log
}

// A periodic job goes on after a turn that fails, and after one that panics.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, log := testRunner()
		turns := 0
		r.Every("sweeping", time.Second, func(context.Context, time.Time) error {
			switch turns++; turns {
			case 1:
				return errors.New("no room")
			case 2:
				panic("a bug")
			}
			return nil
		})
		time.Sleep(4*time.Second + time.Millisecond)
		list := r.List()
		if len(list) != 1 || list[0].Turns != 4 || list[0].Failed != 2 || list[0].Error != "panic: a bug" || !list[0].Running.IsZero() {
			t.Errorf("%+v", list)
		}
		r.Stop()
		if len(r.List()) != 0 || turns != 4 {
			t.Errorf("after Stop: %v, %d turns", r.List(), turns)
		}
		for _, want := range []string{"no room", "panic in a task", "a bug"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log has no %q: %s", want, log)
			}
		}
	})
}

// Kill ends the turn, and the next one runs.
func TestKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := testRunner()
		defer r.Stop()
		var causes []error
		r.Every("waiting", time.Second, func(ctx context.Context, _ time.Time) error {
			<-ctx.Done()
			causes = append(causes, context.Cause(ctx))
			return context.Cause(ctx)
		})
		for range 2 {
			time.Sleep(1500 * time.Millisecond)
			list := r.List()
			if len(list) != 1 || list[0].ID <= FirstID || list[0].Running.IsZero() {
				t.Fatalf("%+v", list)
			}
			if !r.Kill(list[0].ID) {
				t.Fatal("not found")
			}
			synctest.Wait()
		}
		if len(causes) != 2 || !errors.Is(causes[0], sqlerr.QueryInterrupted()) {
			t.Errorf("%v", causes)
		}
		if r.Kill(7) {
			t.Error("7 is no job")
		}
	})
}

// Stop waits for jobs, and none begins after it.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, log := testRunner()
		ended := false
		r.Start("slow", func(ctx context.Context, _ *Job) {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			panic("at the end")
		})
		synctest.Wait()
		r.Stop()
		if !ended || !strings.Contains(log.String(), "at the end") {
			t.Error("did not wait")
		}
		r.Start("late", func(context.Context, *Job) { t.Error("runs") })
		if err := r.Run(t.Context(), "late", func(context.Context) error { return nil }); !errors.Is(err, sqlerr.ServerShutdown()) {
			t.Error(err)
		}
	})
}
