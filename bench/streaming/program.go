package streaming

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Task is where a program of a job runs.
type Task struct {
	In       io.Reader
	Out      *bufio.Writer
	Counters io.Writer                // standard error, where Hadoop reads counters
	Getenv   func(name string) string // has the settings of the job
	Dir      fs.FS                    // the working directory

	counts map[string]int64 // by name of the counter
}

// programs returns the maps and reduces, by name and phase.
func programs() map[string]func(t *Task) error {
	return map[string]func(t *Task) error{
		"index map": indexMap, "index reduce": indexReduce,
		"join map": joinMap, "join reduce": joinReduce,
		"links map": linksMap, "links reduce": linksReduce,
		"pagerank map": rankMap, "pagerank reduce": rankReduce,
		"kmeans map": centresMap, "kmeans reduce": centresReduce,
	}
}

// Run runs a program, such as "index map", to the end of its input.
func Run(name string, t *Task) error {
	all := programs()
	program, ok := all[name]
	if !ok {
		return fmt.Errorf("no program %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	t.counts = make(map[string]int64)
	if err := program(t); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for counter, n := range t.counts {
		if _, err := fmt.Fprintf(t.Counters, "reporter:counter:streaming,%s,%d\n", counter, n); err != nil {
			return err
		}
	}
	return t.Out.Flush()
}

// longestLine bounds a line. The longest have all links of a node.
const longestLine = 1 << 30

// lines yields key and value of each line. They are valid until the next is taken. A line without a
// tab is a key.
func lines(in io.Reader) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		s := bufio.NewScanner(bufio.NewReaderSize(in, 1<<20))
		s.Buffer(nil, longestLine)
		for s.Scan() {
			key, value, _ := bytes.Cut(s.Bytes(), tab)
			if !yield(key, value) {
				return
			}
		}
		if s.Err() != nil {
			panic(s.Err()) // the attempt fails
		}
	}
}

// groups yields each key with its values, which are valid until the next key is taken. All values of
// a key are in memory.
func groups(in io.Reader) iter.Seq2[[]byte, [][]byte] {
	return func(yield func(key []byte, values [][]byte) bool) {
		var last []byte
		var values [][]byte
		for key, value := range lines(in) {
			if len(values) > 0 && !bytes.Equal(key, last) {
				if !yield(last, values) {
					return
				}
				values = values[:0]
			}
			last, values = append(last[:0], key...), append(values, bytes.Clone(value))
		}
		if len(values) > 0 {
			yield(last, values)
		}
	}
}

var tab = []byte{'\t'}

// emit writes a line of fields with tabs between.
func (t *Task) emit(fields ...[]byte) {
	for i, f := range fields {
		if i > 0 {
			_ = t.Out.WriteByte('\t') // the writer keeps its error, which Run returns
		}
		_, _ = t.Out.Write(f)
	}
	_ = t.Out.WriteByte('\n')
}
