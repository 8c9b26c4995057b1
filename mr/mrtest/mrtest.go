// Package mrtest runs jobs inside unit tests, in process, on the real engine. Inputs are
// literals and outputs are values.
//
//	func TestWordcount(t *testing.T) {
//		got := mrtest.Run(t, wordcount, "a b a").Map()
//		want := map[string]int64{"a": 2, "b": 1}
//		if !maps.Equal(got, want) {
//			t.Errorf("got %v, want %v", got, want)
//		}
//	}
//
// RunCase runs a job with a configuration, properties or side files. Stress runs a job under
// disturbances that must not change its output.
package mrtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/task/disturb"
	"github.com/hammr/hammr/mr"
)

// Record is one record of a job's output. A []byte in it is a copy.
type Record[K, V any] struct {
	Key   K
	Value V
}

// Output is the output of a job, as values instead of files.
type Output[K, V any] struct {
	Parts    [][]Record[K, V] // by the number of the part; nil for a part without records
	Counters mr.Counters      // counters of the finished job
}

// Records returns the records of all parts, concatenated.
func (o *Output[K, V]) Records() []Record[K, V] {
	var all []Record[K, V]
	for _, part := range o.Parts {
		all = append(all, part...)
	}
	return all
}

// Map returns the values by the text form of their keys. If a key was written more than
// once, Map returns its last value.
func (o *Output[K, V]) Map() map[string]V {
	m := make(map[string]V)
	for _, r := range o.Records() {
		m[textOf(r.Key)] = r.Value
	}
	return m
}

// Text returns the output as lines of key, tab and value.
func (o *Output[K, V]) Text() string {
	var b strings.Builder
	for _, r := range o.Records() {
		fmt.Fprintf(&b, "%s\t%s\n", textOf(r.Key), textOf(r.Value))
	}
	return b.String()
}

// textOf returns the text form of a key or value, as TextOutput would write it.
func textOf(v any) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(v)
}

// Run runs job on inputs, each the content of one file. File i goes to source i of the job,
// and the last source gets all that remain. The test fails if the job does.
func Run[K, V, KO, VO any](t testing.TB, job *mr.Job[K, V, KO, VO], inputs ...string) *Output[KO, VO] {
	t.Helper()
	return RunCase(t, job, Case{Inputs: inputs})
}

// Case is the input of a job, and how it runs.
type Case struct {
	Inputs []string          // content of the input files
	Config any               // the job's configuration; nil for its defaults
	Set    map[string]string // properties
	Side   map[string]string // side files: name and content
	Fails  bool              // the job is expected to fail; RunCase returns its output up to then

	plan *disturb.Plan // what happens to the attempts; nil: nothing
}

// RunCase runs job on c. An output that collects records replaces the job's own output, so
// no format is involved.
func RunCase[K, V, KO, VO any](t testing.TB, job *mr.Job[K, V, KO, VO], c Case) *Output[KO, VO] {
	t.Helper()
	var catch catcher[KO, VO]
	out := new(Output[KO, VO])
	copied := job.WithOutput(mr.FuncOutput(catch.write))
	out.Counters = c.run(t, job.Name(), copied, t.TempDir(), "")
	out.Parts = catch.parts()
	return out
}

// run runs a job or a graph on the files of the case, which it writes to dir, and returns its
// counters. out is the output directory; "" if the job has none.
func (c Case) run(t testing.TB, name string, r mr.Runnable, dir, out string) mr.Counters {
	t.Helper()
	counters, code, log := c.try(t, name, r, dir, out)
	if failed := code != mr.ExitDone; failed != c.Fails {
		t.Fatalf("%s: exit code %d\n%s", name, code, log)
	}
	return counters
}

// try is run for a job that may fail. It returns the exit code, and what the program has printed.
func (c Case) try(t testing.TB, name string, r mr.Runnable, dir, out string) (counters mr.Counters, code int, log string) {
	t.Helper()
	program := &mr.Program{
		Name: name, Jobs: []mr.Runnable{r},
		Run: func(ctx context.Context, d *mr.Driver) (err error) {
			counters, err = d.RunCounted(ctx, r, mr.JobRun{
				In: writeFiles(t, dir, c.Inputs), Out: out, Config: c.Config, Set: c.Set,
			})
			return err
		},
	}
	var printed bytes.Buffer
	code = mr.Run(disturb.With(t.Context(), c.plan), program, sideOptions(t, dir, c.Side), &printed, &printed)
	return counters, code, printed.String()
}

// writeFiles writes each content to a file of its own and returns their paths, in order.
func writeFiles(t testing.TB, dir string, contents []string) []string {
	t.Helper()
	var names []string
	for i, content := range contents {
		names = append(names, writeFile(t, dir, fmt.Sprintf("input-%05d", i), content))
	}
	return names
}

func writeFile(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// sideOptions writes the side files and returns the options that add them to the job; nil if
// there are none.
func sideOptions(t testing.TB, dir string, side map[string]string) []string {
	t.Helper()
	if len(side) == 0 {
		return nil
	}
	var names []string
	for name, content := range side {
		names = append(names, writeFile(t, dir, name, content))
	}
	return []string{"-files", strings.Join(names, ",")}
}

// catcher collects the records that the tasks of a job write, by part and attempt. Tasks run
// concurrently. mu guards caught. If a second attempt writes a part, the part starts over:
// the first attempt has failed or was preempted.
type catcher[K, V any] struct {
	mu     sync.Mutex
	caught map[int]*caught[K, V]
}

// caught is the output of the latest attempt at a part.
type caught[K, V any] struct {
	attempt string
	records []Record[K, V]
}

// write records one record. The engine reuses the memory of []byte, so own copies it.
func (c *catcher[K, V]) write(t *mr.Task, key K, value V) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.caught == nil {
		c.caught = make(map[int]*caught[K, V])
	}
	part := c.caught[t.Part()]
	if part == nil || part.attempt != t.ID() {
		part = &caught[K, V]{attempt: t.ID()}
		c.caught[t.Part()] = part
	}
	part.records = append(part.records, Record[K, V]{own(key), own(value)})
	return nil
}

// parts returns the records of each part; nil for a part without any.
func (c *catcher[K, V]) parts() [][]Record[K, V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts [][]Record[K, V]
	for n, p := range c.caught {
		for len(parts) <= n {
			parts = append(parts, nil)
		}
		parts[n] = p.records
	}
	return parts
}

// own returns v, or a copy of it if it is a []byte that belongs to the engine.
func own[T any](v T) T {
	if b, ok := any(v).([]byte); ok {
		return any(bytes.Clone(b)).(T)
	}
	return v
}
