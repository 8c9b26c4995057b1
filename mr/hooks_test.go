//go:build hooks

package mr

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage/local"
)

// TestCostOfHooks measures what preemption costs the record loops while no order arrives. It
// compares each loop with a copy that does not check for signals. Both run in turn in one
// attempt, which reports its progress four times a second as usual.
//
// HAMMR_HOOKS_PAIRS is the number of pairs (200 if unset). HAMMR_HOOKS_OUT is a directory
// for hooks-*.csv, to which the pairs are appended. The address at which the linker places a
// loop can matter more than the checks. Therefore make bench-hooks measures several builds
// with different layouts. The test only prints the figures: it sets no limit.
func TestCostOfHooks(t *testing.T) {
	pairs := 200
	if text := os.Getenv("HAMMR_HOOKS_PAIRS"); text != "" {
		var err error
		if pairs, err = strconv.Atoi(text); err != nil || pairs < 1 {
			t.Fatalf("HAMMR_HOOKS_PAIRS %q: expected a whole number above 0", text)
		}
	}
	words := MapFunc(func(_ *Task, _ int64, line []byte, out Emitter[[]byte, int64]) error {
		for w := range Words(line) {
			out.Emit(w, 1)
		}
		return nil
	})
	identity := MapFunc(func(_ *Task, offset int64, line []byte, out Emitter[[]byte, int64]) error {
		out.Emit(line, offset)
		return nil
	})
	sum := Sum[[]byte, int64]()
	counting := New("hooks-wordcount", TextLines(), words, sum, TextOutput[[]byte, int64]()).Combine(sum)
	passing := New("hooks-identity", TextLines(), identity, sum, TextOutput[[]byte, int64]())
	n := newNode(t, counting, 0, nil)
	h := &hooks{t: t, pairs: pairs, dir: n.dir}
	n.server.Programs = task.Programs{counting.Name(): nodeProgram(func(node *task.NodeRun) error {
		return errors.Join(
			h.maps("map, wordcount", node, counting, words), h.maps("map, identity", node, passing, identity),
			h.groups("reduce, few values", node, passing, 3), h.groups("reduce, many values", node, passing, 3000),
		)
	})}
	start := n.cloneStart(taskproc.Kind_MAP, 0)
	start.Split = cutInputs(t, counting, 1<<30, inputFile{content: []byte(someText(rand.New(rand.NewPCG(1, 2)), 150_000))})[0]
	n.attempt(start, 0, nil)
}

// nodeProgram is a Program that consists of one function.
type nodeProgram func(*task.NodeRun) error

func (p nodeProgram) RunNode(n *task.NodeRun) error { return p(n) }

type hooks struct {
	t     *testing.T
	pairs int
	dir   string
}

// maps measures a map loop over the node's split.
func (h *hooks) maps(name string, n *task.NodeRun, job *Job[[]byte, int64, []byte, int64], mapper Mapper[int64, []byte, []byte, int64]) error {
	t, err := newTask(n, nil, nil)
	if err != nil {
		return err
	}
	m := n.Map()
	return h.compare(name, func(bare bool) (run func() error, end func() error, err error) {
		reader, err := TextLines().Open(t, splitOf(m.Split(), m.Work()))
		if err != nil {
			return nil, nil, err
		}
		out, collector, err := collect(t, &job.route, shuffle.Options{FS: local.New(local.Options{}), Path: filepath.Join(h.dir, "map.out"), Partitions: 4, Memory: 256 << 20})
		if err != nil {
			return nil, reader.Close, err
		}
		run = func() error {
			loop := mapRecords[int64, []byte, []byte, int64]
			if bare {
				loop = mapRecordsBare[int64, []byte, []byte, int64]
			}
			_, err := loop(t, m, reader, mapper, out, collector.Err)
			return err
		}
		return run, func() error { return errors.Join(collector.Abort(), reader.Close()) }, nil
	})
}

// groups measures a reduce loop over groups of size values.
func (h *hooks) groups(name string, n *task.NodeRun, job *Job[[]byte, int64, []byte, int64], size int) error {
	t, err := newTask(n, nil, nil)
	if err != nil {
		return err
	}
	fsys, path := local.New(local.Options{}), filepath.Join(h.dir, fmt.Sprintf("groups%d", size))
	out, collector, err := collect(t, &job.route, shuffle.Options{FS: fsys, Path: path, Partitions: 1, Memory: 256 << 20})
	if err != nil {
		return err
	}
	const records = 600_000
	for i := range records {
		out.Emit(fmt.Appendf(nil, "key%08d", i/size), int64(i))
	}
	index, err := collector.Finish(t.Context())
	if err != nil {
		return err
	}
	return h.compare(name, func(bare bool) (run func() error, end func() error, err error) {
		merge, err := shuffle.NewMerge(t.Context(), index.Sources(fsys, 0, shuffle.Ordinal{}), shuffle.MergeOptions{})
		if err != nil {
			return nil, nil, err
		}
		g := &groupLoop[[]byte, int64, []byte, int64]{
			task: t, attempt: &task.Reduce{Node: n}, key: job.route.keys.Decode, value: job.route.values.Decode, groups: merge.Groups(),
			reducer: Sum[[]byte, int64](), out: new(nowhere), outErr: func() error { return nil },
		}
		run = func() error {
			loop := g.run
			if bare {
				loop = g.runBare
			}
			_, err := loop()
			return err
		}
		return run, merge.Close, nil
	})
}

// nowhere is an Emitter that only counts records.
type nowhere struct{ records int }

func (n *nowhere) Emit([]byte, int64) { n.records++ }

// compare measures pairs and reports them. Each arm runs first in every other pair. Setup
// and cleanup of a run are not timed.
func (h *hooks) compare(name string, set func(bare bool) (run, end func() error, err error)) error {
	var wall, cpu []armPair
	for i := range h.pairs + 2 { // the first two pairs warm up
		var w, c armPair
		for turn := range 2 {
			bare := (turn+i)%2 == 0
			took, used, err := measured(bare, set)
			if err != nil {
				return err
			}
			if bare {
				w.Without, c.Without = took, used
			} else {
				w.With, c.With = took, used
			}
		}
		if i >= 2 {
			wall, cpu = append(wall, w), append(cpu, c)
		}
	}
	h.report(name, "wall", wall)
	h.report(name, "cpu", cpu)
	return nil
}

// measured returns the wall time of one run and the CPU time of its thread, in ms.
func measured(bare bool, set func(bare bool) (run, end func() error, err error)) (wall, cpu float64, err error) {
	run, end, err := set(bare)
	if err != nil {
		return 0, 0, err
	}
	runtime.GC()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, used := time.Now(), threadTime()
	err = run()
	wall, cpu = float64(time.Since(began))/1e6, float64(threadTime()-used)/1e6
	return wall, cpu, errors.Join(err, end())
}

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}

// report prints one line of the table. It covers these pairs and the pairs of earlier
// builds, and writes all of them to the file.
func (h *hooks) report(name, kind string, pairs []armPair) {
	out := os.Getenv("HAMMR_HOOKS_OUT")
	file := filepath.Join(out, "hooks-"+fileOf(name)+"-"+kind+".csv")
	if out != "" {
		before, err := readPairs(file)
		if err != nil {
			h.t.Error(err)
			return
		}
		pairs = append(before, pairs...)
		if err := writePairs(file, name, pairs); err != nil {
			h.t.Error(err)
		}
	}
	in := intervalOf(pairs)
	fmt.Printf("%-22s %-5s %4d pairs  median %+6.2f %%  95 %%: %+6.2f to %+6.2f %%\n", name, kind, len(pairs), 100*in.Median, 100*in.Low, 100*in.High)
}

// readPairs returns no pairs if the file does not exist.
func readPairs(file string) ([]armPair, error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return decodePairs(f)
}

func writePairs(file, name string, pairs []armPair) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(encodePairs(f, name, "ms", pairs), f.Close())
}

// fileOf returns name with spaces and commas replaced, for use in a file name.
func fileOf(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c == ' ' || c == ',' {
			b[i] = '-'
		}
	}
	return string(b)
}
