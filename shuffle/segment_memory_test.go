package shuffle

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestExtentsAreNotTakenTwice compares the free list with a dumb twin that has one flag for
// each byte.
func TestExtentsAreNotTakenTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(1, 200).Draw(t, "size")
		free, taken := freeList{{0, size}}, make([]bool, size)
		var out []extent
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				n := rapid.Int64Range(1, size).Draw(t, "bytes")
				e, ok := free.take(n)
				if want := firstFree(taken, n); ok != (want >= 0) || ok && (e != extent{want, want + n}) {
					t.Fatalf("%d bytes at %v, %t instead of %d", n, e, ok, want)
				}
				if ok {
					mark(taken, e, true)
					out = append(out, e)
				}
			},
			"give": func(t *rapid.T) {
				if len(out) == 0 {
					t.Skip("nothing is taken")
				}
				i := rapid.IntRange(0, len(out)-1).Draw(t, "which")
				e := out[i]
				out = slices.Delete(out, i, i+1)
				if cut := rapid.Int64Range(0, e.length()-1).Draw(t, "kept"); cut > 0 { // give back only a part
					out = append(out, extent{e.from, e.from + cut})
					e.from += cut
				}
				free.give(e)
				mark(taken, e, false)
			},
			"": func(t *rapid.T) {
				if want := freeRanges(taken); !slices.Equal(free, want) {
					t.Fatalf("free is %v instead of %v", free, want)
				}
			},
		})
	})
}

func mark(taken []bool, e extent, value bool) {
	for i := e.from; i < e.to; i++ {
		taken[i] = value
	}
}

// firstFree returns the first offset with n contiguous free bytes, or -1.
func firstFree(taken []bool, n int64) int64 {
	for from := int64(0); from+n <= int64(len(taken)); from++ {
		if !slices.Contains(taken[from:from+n], true) {
			return from
		}
	}
	return -1
}

func freeRanges(taken []bool) (free freeList) {
	for i, t := range taken {
		at := int64(i)
		switch {
		case t:
		case i > 0 && !taken[i-1]:
			free[len(free)-1].to = at + 1
		default:
			free = append(free, extent{at, at + 1})
		}
	}
	return free
}

// TestExtentsAreNotFreedTwice gives back bytes that are already free. This must panic:
// otherwise the same bytes would be handed out twice.
func TestExtentsAreNotFreedTwice(t *testing.T) {
	for _, e := range []extent{{0, 10}, {5, 12}, {9, 11}, {18, 25}, {20, 30}, {25, 26}, {0, 40}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v given back though a part is free", e)
				}
			}()
			free := freeList{{0, 10}, {20, 30}}
			free.give(e)
		}()
	}
}

// TestSegmentsBelongToOneAttempt adds several runs at once to an intake with too little memory
// for all. Other streams break or are cancelled meanwhile. If two segments shared a byte,
// the merge would report damage.
func TestSegmentsBelongToOneAttempt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		sources, want := mapSources(t, r, rapid.IntRange(1, 12).Draw(rt, "maps"), "random", None)
		o := intakeOptions(t)
		o.Memory = rapid.SampledFrom([]int64{200 << 10, 500 << 10, 2 << 20}).Draw(rt, "memory")
		o.MemoryLimitPercent, o.InMemThreshold = rapid.SampledFrom([]float64{0.3, 1}).Draw(rt, "largest"), -1
		in, err := NewIntake(o)
		must.Do(rt, err)
		var wg sync.WaitGroup
		for _, s := range sources {
			breaks, cancels := r.Int64N(s.Run.Length), r.Int64N(s.Run.Length)
			wg.Go(func() {
				addCancelled(t, in, s, cancels)
				addCut(t, in, s, breaks)
				if err := addOne(in, s, false); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if buffered := storedBytes(in.mu.memory); in.mu.segments.used != buffered {
			rt.Fatalf("%d bytes in use by segments of %d", in.mu.segments.used, buffered)
		}
		samePairs(t, readMerge(t, finalMerge(t, in)), want)
		must.Do(rt, in.Close())
		if m := &in.mu.segments; m.used != 0 || m.arena != nil {
			rt.Fatalf("%d bytes in use after the end", m.used)
		}
	})
}

// addCut adds a run that ends early.
func addCut(t *testing.T, in *Intake, s Source, after int64) {
	open := func(ctx context.Context, run Run) (io.ReadCloser, error) {
		body, err := opener(s.FS, s.Path)(ctx, run)
		return limited{body, &io.LimitedReader{R: body, N: after}}, err
	}
	var source *SourceError
	if err := in.AddRemote(context.Background(), []Run{s.Run}, s.Ordinal, open); !errors.As(err, &source) {
		t.Errorf("error %v of a run that is cut", err)
	}
}

// addCancelled adds a run whose context is cancelled after some bytes.
func addCancelled(t *testing.T, in *Intake, s Source, after int64) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	open := func(ctx context.Context, run Run) (io.ReadCloser, error) {
		body, err := opener(s.FS, s.Path)(ctx, run)
		ends := readerFunc(func([]byte) (int, error) {
			cancel()
			return 0, context.Cause(ctx)
		})
		return limited{body, io.MultiReader(io.LimitReader(body, after), ends)}, err
	}
	if err := in.AddRemote(ctx, []Run{s.Run}, s.Ordinal, open); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a run that is cancelled", err)
	}
}

type limited struct {
	io.Closer
	io.Reader
}

type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestIntakeClosedUnderAnArrival closes an intake while a stream still writes to its memory.
// The memory is released only when the stream ends, and the stream's data is refused.
func TestIntakeClosedUnderAnArrival(t *testing.T) {
	sources, _ := mapSources(t, rand.New(rand.NewPCG(7, 7)), 1, "random", None)
	s := sources[0]
	data := readFile(t, s.Path)[s.Run.Offset:][:s.Run.Length]
	o := intakeOptions(t)
	o.Memory = 64 << 20
	in, err := NewIntake(o)
	must.Do(t, err)
	late, feed := io.Pipe()
	done := make(chan error)
	go func() { done <- addStream(context.Background(), in, late, s.Run, Ordinal{}) }()
	if _, err := feed.Write(data[:1]); err != nil { // the stream has its memory at this point
		t.Fatal(err)
	}
	must.Do(t, in.Close())
	if in.mu.segments.arena == nil {
		t.Error("the arena is gone while a stream writes to it")
	}
	if _, err := io.Copy(feed, bytes.NewReader(data[1:])); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, errIntakeClosed) {
		t.Errorf("error %v of a stream that ends after Close", err)
	}
	if m := &in.mu.segments; m.arena != nil || m.used != 0 {
		t.Errorf("%d bytes in use after the end", m.used)
	}
	if err := addOne(in, s, false); !errors.Is(err, errIntakeClosed) {
		t.Errorf("error %v of a stream that begins after Close", err)
	}
}
