package shuffle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

func intakeOptions(t testing.TB) IntakeOptions {
	return IntakeOptions{FS: local.New(local.Options{}), Dir: filepath.Join(t.TempDir(), "in"), Memory: 1 << 20}
}

// fill adds sources to an intake from two goroutines, in random order, some as files and
// some as streams.
func fill(t testing.TB, r *rand.Rand, in *Intake, sources []Source) {
	t.Helper()
	order := r.Perm(len(sources))
	var wg sync.WaitGroup
	for half := range 2 {
		local := r.IntN(3)
		wg.Go(func() {
			for i := half; i < len(order); i += 2 {
				if err := addOne(in, sources[order[i]], i%3 == local); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func addOne(in *Intake, s Source, local bool) error {
	if local {
		return in.AddLocal(s)
	}
	return in.AddRemote(context.Background(), []Run{s.Run}, s.Ordinal, opener(s.FS, s.Path))
}

// opener opens the runs of a file as streams, as if they arrived over a network.
func opener(fsys storage.FS, path string) OpenRun {
	return func(ctx context.Context, run Run) (io.ReadCloser, error) {
		f, err := fsys.Open(ctx, path)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.NewSectionReader(f, run.Offset, run.Length), f}, nil
	}
}

// streaming returns an OpenRun that yields one reader.
func streaming(r io.Reader) OpenRun {
	return func(context.Context, Run) (io.ReadCloser, error) { return io.NopCloser(r), nil }
}

// addStream adds one run from a reader.
func addStream(ctx context.Context, in *Intake, r io.Reader, run Run, ordinal Ordinal) error {
	return in.AddRemote(ctx, []Run{run}, ordinal, streaming(r))
}

// TestIntakeFreesMemoryForTheFinalMerge checks that the final merge keeps no more bytes in
// memory than FreePercent allows. Close releases each byte once.
func TestIntakeFreesMemoryForTheFinalMerge(t *testing.T) {
	for _, free := range []float64{0, 0.99, 1} {
		r := rand.New(rand.NewPCG(7, 0))
		sources, want := mapSources(t, r, 8, "random", None)
		o := intakeOptions(t)
		o.Memory, o.FreePercent = 16<<20, free
		in, err := NewIntake(o)
		must.Do(t, err)
		for _, s := range sources {
			must.Do(t, addOne(in, s, false))
		}
		before := in.Buffered()
		m := finalMerge(t, in)
		most := int64(float64(o.Memory) * (1 - free))
		if after := in.Buffered(); after > most || free == 0 && after != before {
			t.Errorf("free %v: %d bytes in memory of %d before, at most %d are allowed", free, after, before, most)
		}
		samePairs(t, readMerge(t, m), want)
		must.Do(t, in.Close())
		onlyFiles(t, o.Dir)
	}
}

func finalMerge(t testing.TB, in *Intake) *Merge {
	t.Helper()
	m, err := in.Merge(context.Background())
	must.Do(t, err)
	return m
}

// TestIntakeOutputIsIndependentOfArrival varies memory, budget, merge factor, order of arrival
// and codec. The merged records stay the same.
func TestIntakeOutputIsIndependentOfArrival(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		kind := rapid.SampledFrom([]string{"short", "equal", "random", "prefix"}).Draw(rt, "kind")
		sources, want := mapSources(t, r, rapid.IntRange(0, 8).Draw(rt, "maps"), kind, Codec(r.IntN(int(codecCount))))
		o := intakeOptions(t)
		o.Memory = rapid.SampledFrom([]int64{1 << 10, 64 << 10, 200 << 10, 1 << 20, 16 << 20}).Draw(rt, "memory")
		o.Factor = rapid.IntRange(2, 9).Draw(rt, "factor")
		o.InMemThreshold = rapid.SampledFrom([]int{0, 1, 2, -1}).Draw(rt, "threshold")
		o.Codec = Codec(r.IntN(int(codecCount)))
		o.FreePercent = rapid.SampledFrom([]float64{0, 0, 0.9, 1}).Draw(rt, "free")
		o.Budget = testBudget(rapid.SampledFrom([]int64{0, 10 << 10, 500 << 10, 64 << 20}).Draw(rt, "budget"))
		in, err := NewIntake(o)
		must.Do(rt, err)
		fill(t, r, in, sources)
		samePairs(t, readMerge(t, finalMerge(t, in)), want)
		must.Do(rt, in.Close())
		onlyFiles(t, o.Dir)
		if taken := o.Budget.mu.taken; taken != 0 {
			rt.Fatalf("%d bytes are not given back", taken)
		}
	})
}

// TestIntakeResumesFromState saves the state at random records. Each time a new intake
// resumes from it.
func TestIntakeResumesFromState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		sources, want := mapSources(t, r, rapid.IntRange(1, 6).Draw(rt, "maps"), "short", None)
		o := intakeOptions(t)
		o.Factor = rapid.IntRange(2, 9).Draw(rt, "factor")
		in, err := NewIntake(o)
		must.Do(rt, err)
		fill(t, r, in, sources)
		base := o.Dir
		for pause := 0; len(want) > 0; pause++ {
			if r.IntN(3) > 0 { // otherwise the state is saved before the final merge
				g := finalMerge(t, in).Groups()
				for stop := r.IntN(len(want)) + 1; stop > 0 && g.NextGroup(); {
					for ; g.NextValue(); stop-- {
						samePairs(t, []pair{{string(g.FullKey()), string(g.Value())}}, want[:1])
						want = want[1:]
					}
				}
				g.Boundary()
			}
			state, err := in.State(context.Background())
			if err == nil {
				err = in.Detach()
			}
			must.Do(rt, err)
			o.Dir = filepath.Join(base, fmt.Sprint("attempt", pause))
			if in, err = NewIntakeFromState(o, state); err != nil {
				rt.Fatal(err)
			}
		}
		samePairs(t, readMerge(t, finalMerge(t, in)), nil)
		must.Do(rt, in.Close())
	})
}

// TestIntakeRefusesBadStreams checks that the intake keeps no data of a bad stream and then
// accepts a good one.
func TestIntakeRefusesBadStreams(t *testing.T) {
	sources, want := mapSources(t, rand.New(rand.NewPCG(2, 2)), 1, "random", None)
	s := sources[0]
	data := readFile(t, s.Path)[s.Run.Offset:][:s.Run.Length]
	for _, memory := range []int64{1 << 10, 16 << 20} {
		o := intakeOptions(t)
		o.Memory = memory
		in, err := NewIntake(o)
		must.Do(t, err)
		for i := 0; i < len(data); i += 501 {
			changed := bytes.Clone(data)
			changed[i] ^= 4
			if err := addStream(context.Background(), in, bytes.NewReader(changed), s.Run, Ordinal{}); !errors.Is(err, storage.ErrCorrupt) {
				t.Fatalf("byte %d changed: error %v", i, err)
			}
			if err := addStream(context.Background(), in, bytes.NewReader(data[:i]), s.Run, Ordinal{}); err == nil {
				t.Fatalf("stream that ends after %d bytes accepted", i)
			}
		}
		if err := addStream(context.Background(), in, iotest.ErrReader(io.ErrNoProgress), s.Run, Ordinal{}); !errors.Is(err, io.ErrNoProgress) {
			t.Fatalf("error %v", err)
		}
		for _, s := range sources {
			must.Do(t, addOne(in, s, false))
		}
		samePairs(t, readMerge(t, finalMerge(t, in)), want)
		must.Do(t, in.Close())
		onlyFiles(t, o.Dir)
	}
}

// TestIntakeWaitsForMemory fills the memory with a stream that does not end. A second stream
// waits for memory until its context ends.
func TestIntakeWaitsForMemory(t *testing.T) {
	sources, _ := mapSources(t, rand.New(rand.NewPCG(2, 3)), 1, "random", None)
	s := sources[0]
	o := intakeOptions(t)
	o.Memory, o.InputBufferPercent, o.MemoryLimitPercent = s.Run.Length+1, 1, 1
	in, err := NewIntake(o)
	must.Do(t, err)
	stuck, feed := io.Pipe()
	done := make(chan error)
	go func() { done <- addStream(context.Background(), in, stuck, s.Run, Ordinal{}) }()
	if _, err := feed.Write([]byte{blockMagic}); err != nil { // the first stream has its memory at this point
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := addStream(ctx, in, bytes.NewReader(nil), s.Run, Ordinal{Input: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v instead of a cancelled context", err)
	}
	feed.Close()
	if err := <-done; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v of a stream that ends", err)
	}
	must.Do(t, in.Close())
}
