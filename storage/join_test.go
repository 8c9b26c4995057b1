package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/storage/storagetest"
)

// joinCase has pieces of the given lengths in a file system with or without Concat.
type joinCase struct {
	lengths []int
	concat  bool
}

func joinCases() []joinCase {
	var cases []joinCase
	for _, lengths := range [][]int{{10}, {0}, {0, 0}, {10, 20}, {0, 7, 0}, {5, 0, 6, 7}, {0, 4, 5}, {100_000, 1}} {
		cases = append(cases, joinCase{lengths, true}, joinCase{lengths, false})
	}
	return cases
}

// setup creates the pieces and returns their concatenated content.
func (c joinCase) setup(t testing.TB) (m *mem.FS, pieces []storage.Piece, want []byte) {
	m = mem.New(mem.Options{NoConcat: !c.concat})
	for i, n := range c.lengths {
		data := bytes.Repeat([]byte{byte('a' + i)}, n)
		name := fmt.Sprintf("/out/_temporary/piece-%d", i)
		storagetest.Write(t, m, name, data)
		pieces = append(pieces, storage.Piece{Path: name, Length: int64(n)})
		want = append(want, data...)
	}
	return m, pieces, want
}

const joinTarget = "/out/sub/part-r-00000"

// wantJoined checks that target is complete and that no other file exists.
func wantJoined(t testing.TB, m *mem.FS, want []byte) {
	t.Helper()
	if got := storagetest.Read(t, m, joinTarget); !bytes.Equal(got, want) {
		t.Errorf("joined %d bytes, want %d", len(got), len(want))
	}
	for info := range storage.Walk(t.Context(), m, "/") {
		if !info.IsDir && info.Path != joinTarget {
			t.Errorf("%s is left over", info.Path)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, c := range joinCases() {
		m, pieces, want := c.setup(t)
		for run := range 2 {
			if err := storage.Join(t.Context(), m, joinTarget, pieces, "x1"); err != nil {
				t.Errorf("%+v, run %d: %v", c, run, err)
				continue
			}
			wantJoined(t, m, want)
		}
	}
}

// TestJoinAfterCrash crashes before and after the effect of each call, and again during the
// second run. The third run must succeed. Target must never exist partially.
func TestJoinAfterCrash(t *testing.T) {
	for _, c := range joinCases() {
		for after := range 2 {
			for n := 1; ; n++ {
				m, pieces, want := c.setup(t)
				f := fault.New(m, fault.Options{}, fault.Rule{Nth: n, Crash: true, After: after == 1})
				err := storage.Join(t.Context(), f, joinTarget, pieces, "x1")
				if !f.Crashed() {
					break
				}
				if err == nil {
					t.Errorf("%+v: no error though call %d crashed", c, n)
				}
				if storagetest.Exists(t, m, joinTarget) && !bytes.Equal(storagetest.Read(t, m, joinTarget), want) {
					t.Fatalf("%+v: after a crash in call %d the target is there in parts", c, n)
				}
				again := fault.New(m, fault.Options{}, fault.Rule{Nth: n/2 + 1, Crash: true, After: after == 0})
				_ = storage.Join(t.Context(), again, joinTarget, pieces, "x1")
				if err := storage.Join(t.Context(), m, joinTarget, pieces, "x1"); err != nil {
					t.Fatalf("%+v, crash in call %d: %v", c, n, err)
				}
				wantJoined(t, m, want)
			}
		}
	}
}

// TestJoinAfterError makes each call fail once, with and without its effect. The next run
// must succeed.
func TestJoinAfterError(t *testing.T) {
	for _, c := range joinCases() {
		for after := range 2 {
			for n, calls := 1, 1; n <= calls; n++ {
				m, pieces, want := c.setup(t)
				f := fault.New(m, fault.Options{}, fault.Rule{Nth: n, Times: 1, Err: fault.ErrInjected, After: after == 1})
				err := storage.Join(t.Context(), f, joinTarget, pieces, "x1")
				if calls = f.Calls(); n <= calls && err != nil && !errors.Is(err, fault.ErrInjected) {
					t.Errorf("%+v: call %d failed, but the error is %v", c, n, err)
				}
				if err := storage.Join(t.Context(), m, joinTarget, pieces, "x2"); err != nil {
					t.Fatalf("%+v, error in call %d: %v", c, n, err)
				}
				_ = m.Remove(t.Context(), "/out/_temporary/.piece-0.x1", false) // the first run would remove it itself
				wantJoined(t, m, want)
			}
		}
	}
}

// TestJoinAtOnce runs two leaders that join the same pieces.
func TestJoinAtOnce(t *testing.T) {
	for range 10 {
		for _, c := range joinCases() {
			m, pieces, want := c.setup(t)
			var wg sync.WaitGroup
			for i := range 2 {
				wg.Go(func() {
					if err := storage.Join(t.Context(), m, joinTarget, pieces, fmt.Sprint("x", i)); err != nil {
						t.Errorf("%+v, leader %d: %v", c, i, err)
					}
				})
			}
			wg.Wait()
			wantJoined(t, m, want)
		}
	}
}

// stepwise concatenates in one call for each source, as HDFS does for many sources.
type stepwise struct{ storage.FS }

func (f stepwise) Concat(ctx context.Context, target string, sources []string) error {
	for _, s := range sources {
		if err := f.FS.Concat(ctx, target, []string{s}); err != nil {
			return err
		}
	}
	return nil
}

// TestJoinContinuesAnInterruptedConcat interrupts a join between the calls of a Concat, before
// and after the effect of each. The next run continues, by Concat or, if the file system does
// not support it any more, by copying.
func TestJoinContinuesAnInterruptedConcat(t *testing.T) {
	for _, supported := range []bool{true, false} {
		for after := range 2 {
			for n := 1; ; n++ {
				m, pieces, want := joinCase{[]int{5, 1, 5, 7, 2}, true}.setup(t)
				f := fault.New(m, fault.Options{}, fault.Rule{Nth: n, Crash: true, After: after == 1})
				_ = storage.Join(t.Context(), stepwise{f}, joinTarget, pieces, "x1")
				if !f.Crashed() {
					break
				}
				next := fault.New(m, fault.Options{})
				if !supported {
					next.Add(fault.Rule{Op: fault.Concat, Err: errors.ErrUnsupported})
				}
				if err := storage.Join(t.Context(), stepwise{next}, joinTarget, pieces, "x1"); err != nil {
					t.Fatalf("interrupted in call %d: %v", n, err)
				}
				wantJoined(t, m, want)
			}
		}
	}
}

// TestStepwiseJoinAtOnce runs two leaders that concatenate the same pieces call by call.
func TestStepwiseJoinAtOnce(t *testing.T) {
	for range 20 {
		m, pieces, want := joinCase{[]int{5, 1, 5, 7, 2, 9, 9, 3}, true}.setup(t)
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				if err := storage.Join(t.Context(), stepwise{m}, joinTarget, pieces, fmt.Sprint("x", i)); err != nil {
					t.Errorf("leader %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		wantJoined(t, m, want)
	}
}

func TestJoinRefuses(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		spoil func(m *mem.FS)
		want  string
	}{
		"piece gone": {func(m *mem.FS) { _ = m.Remove(ctx, "/out/_temporary/piece-1", false) },
			"piece /out/_temporary/piece-1 is gone"},
		"first piece gone": {func(m *mem.FS) { _ = m.Remove(ctx, "/out/_temporary/piece-0", false) },
			"piece /out/_temporary/piece-0 is gone"},
		"piece too short": {func(m *mem.FS) {
			_ = m.Remove(ctx, "/out/_temporary/piece-1", false)
			storagetest.Write(t, m, "/out/_temporary/piece-1", []byte("x"))
		}, "piece /out/_temporary/piece-1 holds 1 bytes where 20 are recorded"},
		"another target": {func(m *mem.FS) { storagetest.Write(t, m, joinTarget, []byte("xx")) },
			joinTarget + " holds 2 bytes where 30 are recorded"},
		"target a directory": {func(m *mem.FS) { _ = m.MkdirAll(ctx, joinTarget) },
			joinTarget + " is a directory"},
	} {
		for _, concat := range []bool{true, false} {
			m, pieces, _ := joinCase{[]int{10, 20}, concat}.setup(t)
			c.spoil(m)
			before := 0
			for range storage.Walk(ctx, m, "/out/_temporary") {
				before++
			}
			err := storage.Join(ctx, m, joinTarget, pieces, "x1")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			for range storage.Walk(ctx, m, "/out/_temporary") {
				before--
			}
			if before != 0 {
				t.Errorf("%s: pieces were removed", name)
			}
		}
	}
	if err := storage.Join(ctx, mem.New(mem.Options{}), joinTarget, nil, "x"); err == nil {
		t.Error("no pieces give no error")
	}
}
