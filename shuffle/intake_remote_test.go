package shuffle

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// outputOf returns the sources of one map's output, which has several runs.
func outputOf(t testing.TB, records []pair) []Source {
	t.Helper()
	o := testOptions(t, 1)
	o.Memory, o.MaxRuns = 1<<20, 1000
	x, _ := collectSorted(t, o, records)
	return x.Sources(o.FS, 0, Ordinal{Input: 3})
}

// TestIntakeTakesAllRunsOrNone breaks one run of an output, each run in each way. The intake
// must keep no trace of the output's other runs.
func TestIntakeTakesAllRunsOrNone(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	sources := outputOf(t, recordKinds["random"](r, 100_000))
	if len(sources) < 3 {
		t.Fatalf("%d runs: too few for this test", len(sources))
	}
	want := readMerge(t, mergeSources(t, sources))
	for _, memory := range []int64{100 << 10, 64 << 20} {
		o := intakeOptions(t)
		o.Memory = memory
		in, err := NewIntake(o)
		must.Do(t, err)
		for i := range 3 * len(sources) {
			addBroken(t, r, in, sources, i/3, i%3)
			if s := in.Stats(); s != (IntakeStats{}) || in.mu.segments.used != 0 {
				t.Fatalf("%d bytes in use, stats %+v", in.mu.segments.used, s)
			}
			onlyFiles(t, o.Dir)
		}
		must.Do(t, in.AddRemote(context.Background(), runsOf(sources), sources[0].Ordinal, opener(sources[0].FS, sources[0].Path)))
		samePairs(t, readMerge(t, finalMerge(t, in)), want)
		must.Do(t, in.Close())
	}
}

var errCut = errors.New("line cut")

// addBroken adds sources, one of which is broken: it does not open (how 0), is damaged (1)
// or ends early (2). It checks the error.
func addBroken(t *testing.T, r *rand.Rand, in *Intake, sources []Source, bad, defect int) {
	t.Helper()
	good := opener(sources[0].FS, sources[0].Path)
	err := in.AddRemote(context.Background(), runsOf(sources), sources[0].Ordinal, func(ctx context.Context, run Run) (io.ReadCloser, error) {
		body, err := good(ctx, run)
		if err != nil || run != sources[bad].Run {
			return body, err
		}
		defer body.Close()
		b, err := io.ReadAll(body)
		switch defect {
		case 0:
			return nil, errCut
		case 1:
			b[r.IntN(len(b))] ^= 1
			return io.NopCloser(bytes.NewReader(b)), err
		default:
			cut := io.MultiReader(bytes.NewReader(b[:r.IntN(len(b))]), iotest.ErrReader(errCut))
			return io.NopCloser(cut), err
		}
	})
	var source *SourceError
	if !errors.As(err, &source) || source.Run != sources[bad].Run {
		t.Fatalf("error %v does not name run %d", err, bad)
	}
	if defect == 1 && !errors.Is(err, storage.ErrCorrupt) || defect != 1 && !errors.Is(err, errCut) {
		t.Fatalf("error %v of fault %d", err, defect)
	}
}

// TestErrorsOfTheIntakeAreNotOfTheSource checks that an error of the intake's own disk does
// not blame the source.
func TestErrorsOfTheIntakeAreNotOfTheSource(t *testing.T) {
	sources, _ := mapSources(t, rand.New(rand.NewPCG(2, 9)), 1, "random", None)
	o := intakeOptions(t)
	o.Memory = 1 << 10
	writeFile(t, o.Dir, []byte("a file where the directory is to be"))
	in, err := NewIntake(o)
	must.Do(t, err)
	err = addOne(in, sources[0], false)
	var source *SourceError
	if err == nil || errors.As(err, &source) {
		t.Errorf("error %v", err)
	}
	must.Do(t, os.Remove(o.Dir))
	must.Do(t, in.Close())
}

// TestCutRunIsIncomplete ends the body of a run at its start and in the middle. Both are an
// incomplete run, never the regular end of the input.
func TestCutRunIsIncomplete(t *testing.T) {
	for _, body := range []string{"", "half"} {
		for name, receive := range map[string]func(s *Source) error{
			"on disk": func(s *Source) error { return copyRun(t.Context(), io.Discard, s, strings.NewReader(body)) },
			"in memory": func(s *Source) error {
				return receiveInMemory(s, piece{bytes: make([]byte, 10)}, strings.NewReader(body))
			},
		} {
			err := receive(&Source{Run: Run{Length: 10}})
			if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, new(*SourceError)) {
				t.Errorf("%s, after %q: %v", name, body, err)
			}
		}
	}
}

// TestVerifyRun flips bits of a run and cuts it short.
func TestVerifyRun(t *testing.T) {
	sources, _ := mapSources(t, rand.New(rand.NewPCG(2, 8)), 1, "random", None)
	run := sources[0].Run
	data := readFile(t, sources[0].Path)[run.Offset:][:run.Length]
	must.Do(t, VerifyRun(context.Background(), bytes.NewReader(data), run))
	for i := 0; i < len(data); i += 301 {
		changed := bytes.Clone(data)
		changed[i] ^= 16
		for _, b := range [][]byte{changed, data[:i]} {
			if err := VerifyRun(context.Background(), bytes.NewReader(b), run); !errors.Is(err, storage.ErrCorrupt) {
				t.Fatalf("damage at byte %d: error %v", i, err)
			}
		}
	}
}
