package streaming_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/bench/streaming"
	"github.com/hammr/hammr/internal/testing/must"
)

// shuffle runs a job as Hadoop's streaming does: a map of each file, a sort of all lines, and a
// reduce. It returns the output and the counters.
func shuffle(t *testing.T, program, dir string, files []string, settings map[string]string) (output, counters string) {
	t.Helper()
	run := func(phase, file string, in io.Reader) string {
		var out, counted bytes.Buffer
		must.Do(t, streaming.Run(program+" "+phase, &streaming.Task{
			In: in, Out: bufio.NewWriter(&out), Counters: &counted, Dir: os.DirFS(dir),
			Getenv: func(name string) string {
				if name == "mapreduce_map_input_file" {
					return file
				}
				return settings[name]
			},
		}))
		counters += counted.String()
		return out.String()
	}
	var lines []string
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		must.Do(t, err)
		lines = append(lines, slices.Collect(strings.Lines(run("map", file, bytes.NewReader(text))))...)
	}
	slices.Sort(lines)
	return run("reduce", "", strings.NewReader(strings.Join(lines, ""))), counters
}

// write writes files, each with the text that follows its name, into a directory.
func write(t *testing.T, files ...string) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	for i := 0; i < len(files); i += 2 {
		must.Do(t, os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o666))
		names = append(names, files[i])
	}
	return dir, names
}

func TestRecords(t *testing.T) {
	for _, c := range []struct {
		program, want string
		files         []string
	}{
		{"index", "cat\ta.txt:1\ndog\tb.txt:1\nthe\ta.txt:1\tb.txt:2\n", []string{"a.txt", "the cat\n", "b.txt", "the dog the\n"}},
		{"join", "1\tada\t3.20\n2\tgrace\t5.50\n2\tgrace\t6\n", []string{"left", "1\tada\n2\tgrace\n3\tx\n", "right", "2\t5.50\n1\t3.20\n2\t6\n4\t1\n"}},
	} {
		dir, files := write(t, c.files...)
		if got, _ := shuffle(t, c.program, dir, files, map[string]string{"LEFT": "left"}); got != c.want {
			t.Errorf("%s: %q, want %q", c.program, got, c.want)
		}
	}
}

// TestPageRank has the graph of package pagerank, whose documentation has the ranks, and one more node
// without links.
func TestPageRank(t *testing.T) {
	dir, files := write(t, "links", "a\tb\na\tc\nb\ta\nc\ta\nc\td\n")
	state, counters := shuffle(t, "links", dir, files, nil)
	if state != "a\t1000000000\tb\tc\nb\t1000000000\ta\nc\t1000000000\ta\td\nd\t1000000000\t\n" || !strings.Contains(counters, "NODES,4\n") || !strings.Contains(counters, "STRANDED,1000000000\n") {
		t.Fatalf("%q, %s", state, counters)
	}
	for _, c := range []struct{ last, want string }{
		{"", "a\t1637500000\tb\tc\nb\t787500000\ta\nc\t787500000\ta\td\nd\t787500000\t\n"},
		{"1", "a\t1.637500000\nb\t0.787500000\nc\t0.787500000\nd\t0.787500000\n"},
	} {
		dir, files := write(t, "state", state)
		got, _ := shuffle(t, "pagerank", dir, files, map[string]string{streaming.Nodes: "4", streaming.Stranded: "1000000000", streaming.Last: c.last})
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestCentres(t *testing.T) {
	dir, _ := write(t, "a", "0 0\n2 2\n", "b", "100 100\n", streaming.CentresFile, "0 0\n90 90\n-500 -500\n")
	for _, c := range []struct{ last, want string }{
		{"", "1 1\n100 100\n-500 -500\n"}, {"1", "0\t1 1\t2\n1\t100 100\t1\n2\t-500 -500\t0\n"},
	} {
		got, _ := shuffle(t, "kmeans", dir, []string{"a", "b"}, map[string]string{streaming.Last: c.last})
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestBadInput(t *testing.T) {
	for program, in := range map[string]string{
		"sort map": "", "pagerank map": "a\tx\n", "pagerank reduce": "a\t1\n", "index reduce": "a\tfile\n", "kmeans map": "1 x\n", "kmeans reduce": "x\t1\t1\n",
	} {
		dir, _ := write(t, streaming.CentresFile, "0 0\n")
		task := streaming.Task{In: strings.NewReader(in), Out: bufio.NewWriter(io.Discard), Counters: io.Discard, Getenv: func(string) string { return "" }, Dir: os.DirFS(dir)}
		if err := streaming.Run(program, &task); err == nil || !strings.Contains(fmt.Sprint(err), strings.Fields(program)[0]) {
			t.Errorf("%s: %v", program, err)
		}
	}
}
