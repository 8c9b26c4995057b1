package mr_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// countAs defines a graph that counts words. connect returns the stage that adds up the
// words.
func countAs(connect func(g *mr.Graph, words *mr.Stage[string, int64]) *mr.Stage[string, int64]) *mr.Definition {
	return mr.Define("count", none{}, func(g *mr.Graph, _ none) {
		mr.Write(connect(g, mr.Read(g, "words", lineFile, tokens)), textual)
	})
}

// countingGraphs returns graphs that all produce the same output.
func countingGraphs() map[string]*mr.Definition {
	type stage = *mr.Stage[string, int64]
	return map[string]*mr.Definition{
		"shuffle": countAs(func(g *mr.Graph, words stage) stage {
			return mr.Group(g, "sum", sums, words.Shuffle())
		}),
		"fold": countAs(func(g *mr.Graph, words stage) stage {
			return mr.Group(g, "sum", sums, words.Shuffle().Combine(sums))
		}),
		"combine": countAs(func(g *mr.Graph, words stage) stage {
			return mr.Group(g, "sum", sums, words.Shuffle().Combine(mr.ReduceFunc(
				func(t *mr.Task, key string, values iter.Seq[int64], out countEmitter) error {
					return sums.Reduce(t, key, values, out)
				})))
		}),
		"per machine": countAs(func(g *mr.Graph, words stage) stage {
			machine := mr.Group(g, "machine", sums, words.PerMachine(2).Combine(sums))
			return mr.Group(g, "sum", sums, machine.Shuffle())
		}),
		"pipe": countAs(func(g *mr.Graph, words stage) stage {
			piped := mr.Each(g, "combine", same, words.Pipe())
			return mr.Group(g, "sum", sums, piped.Shuffle().Combine(sums))
		}),
		"pipe, sorted": countAs(func(g *mr.Graph, words stage) stage {
			piped := mr.Group(g, "combine", sums, words.Pipe())
			return mr.Group(g, "sum", sums, piped.Shuffle())
		}),
		"stored": countAs(func(g *mr.Graph, words stage) stage {
			piped := mr.Each(g, "combine", same, words.Pipe())
			first := mr.Group(g, "first", sums, piped.Shuffle().Stored().Combine(sums)).Nodes(3)
			return mr.Group(g, "sum", sums, first.Shuffle().Stored())
		}),
		"one to one": countAs(func(g *mr.Graph, words stage) stage {
			kept := mr.Each(g, "kept", same, words.Via(dag.ChannelFile, mr.OneToOne))
			return mr.Group(g, "sum", sums, kept.Shuffle())
		}),
		"two rounds": countAs(func(g *mr.Graph, words stage) stage {
			first := mr.Group(g, "first", sums, words.Shuffle()).Nodes(3)
			return mr.Group(g, "sum", sums, first.Shuffle())
		}),
		"stream": countAs(func(g *mr.Graph, words stage) stage {
			some := mr.Each(g, "some", same, words.Shuffle()).Nodes(2).Slots(dag.SlotMap)
			return mr.Group(g, "sum", sums, some.Stream(mr.AllToAll))
		}),
	}
}

// TestGraphsCountAsJobs compares the output of graphs of all shapes with the output of the
// job.
func TestGraphsCountAsJobs(t *testing.T) {
	in := inputDir(t, lines(3000), lines(100), "", "x\n")
	want := outputDir(t)
	options := []string{"-D", "mapreduce.job.reduces=2", "-D", "mapreduce.input.fileinputformat.split.maxsize=20000", "--workers=4", in}
	mrtest.Command(t, wordCount(), append(options, want)...)
	for name, d := range countingGraphs() {
		t.Run(name, func(t *testing.T) {
			got := outputDir(t)
			mrtest.Command(t, d, append(options, got)...)
			wantFiles(t, got, map[string]string{
				"part-r-00000": filesIn(t, want)["part-r-00000"], "part-r-00001": filesIn(t, want)["part-r-00001"],
			})
		})
	}
}

// lines returns n lines of words.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d w%d common w%d\n", i%7, i%101, i*i%1009)
	}
	return b.String()
}

// TestSourcesWriteTheirOwnFiles writes the output of a source, the output of a group, and a
// named output that both share.
func TestSourcesWriteTheirOwnFiles(t *testing.T) {
	d := mr.Define("outputs", none{}, func(g *mr.Graph, _ none) {
		long := mr.AddOutput(g, "long", mr.TextOutput[string, string]())
		read := mr.Read(g, "read", lineFile, mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out countEmitter) error {
			for w := range mr.Words(line) {
				if out.Emit(string(w), 1); len(w) > 3 {
					if err := long.Emit(t, string(w), t.Stage()); err != nil {
						return err
					}
				}
			}
			return nil
		}))
		mr.With(mr.WriteAs(read, "words", textual), long)
		sum := mr.Group(g, "sum", mr.ReduceFunc(func(t *mr.Task, key string, values iter.Seq[int64], out countEmitter) error {
			if len(key) > 3 {
				if err := long.Emit(t, key, fmt.Sprint(t.Stage(), t.Part(), t.Nodes())); err != nil {
					return err
				}
			}
			return sums.Reduce(t, key, values, out)
		}), read.Shuffle())
		mr.With(mr.Write(sum, textual), long)
	})
	dir := outputDir(t)
	mrtest.Command(t, d, inputDir(t, "a long a\n"), dir)
	wantFiles(t, dir, map[string]string{
		"words-m-00000": "a\t1\nlong\t1\na\t1\n",
		"part-r-00000":  "a\t2\nlong\t1\n",
		"long-m-00000":  "long\tread\n",
		"long-r-00000":  "long\tsum0 1\n",
	})
}

// TestSidesAreReadWhole checks that each Node can read all records of a side, in order. It
// can read them in Setup and any number of times.
func TestSidesAreReadWhole(t *testing.T) {
	d := mr.Define("sides", none{}, func(g *mr.Graph, _ none) {
		small := mr.Read(g, "small", mr.KeyValueText(), textPairs()).Broadcast()
		big := mr.Read(g, "big", lineFile, tokens)
		look := mr.With(mr.Each(g, "look", &lookup{side: small}, big.Pipe()), small)
		mr.Write(mr.Group(g, "lists", lists, look.Shuffle()), mr.TextOutput[string, string]())
	})
	dir := outputDir(t)
	mrtest.Command(t, d, mrtest.File(t, "small", "b\t2\na\t1\nb\t3\n"), mrtest.File(t, "big", "a b c\n"), dir)
	wantFiles(t, dir, map[string]string{"part-r-00000": "a\t1 of 3\nb\t2 of 3,3 of 3\n"})
}

func textPairs() mr.Mapper[[]byte, []byte, string, string] {
	return mr.MapFunc(func(_ *mr.Task, key, value []byte, out textEmitter) error {
		out.Emit(string(key), string(value))
		return nil
	})
}

// lookup emits the rows of a side that have the record's key.
type lookup struct {
	side *mr.Side[string, string]
	rows int
}

func (l *lookup) Setup(t *mr.Task) error {
	for range l.side.All(t) {
		l.rows++
	}
	return nil
}

func (l *lookup) Map(t *mr.Task, key string, _ int64, out textEmitter) error {
	for k, v := range l.side.All(t) {
		if k == key {
			out.Emit(key, fmt.Sprintf("%s of %d", v, l.rows))
		}
	}
	return nil
}

// TestErrorsNameTheirStage makes each kind of user code fail. The error names the stage and
// the Node.
func TestErrorsNameTheirStage(t *testing.T) {
	broken := errors.New("broken on purpose")
	fail := mr.MapFunc(func(*mr.Task, string, int64, countEmitter) error { return broken })
	type stage = *mr.Stage[string, int64]
	for name, c := range map[string]struct {
		d    *mr.Definition
		want []string
	}{
		"source": {mr.Define("x", none{}, func(g *mr.Graph, _ none) {
			mr.Write(mr.Read(g, "read", lineFile, mr.MapFunc(func(*mr.Task, int64, []byte, countEmitter) error { panic("no way") })), textual)
		}), []string{"stage read, node 0: panic: no way", "in-0"}},
		"each, piped": {countAs(func(g *mr.Graph, words stage) stage {
			return mr.Each(g, "each", fail, words.Pipe())
		}), []string{"stage each, node 0: broken on purpose"}},
		"each, filed": {countAs(func(g *mr.Graph, words stage) stage {
			return mr.Each(g, "each", fail, words.Shuffle())
		}), []string{"stage each, node 0: broken on purpose"}},
		"a lookup in a side that was not given": {countAs(func(g *mr.Graph, words stage) stage {
			other := mr.Read(g, "other", mr.KeyValueText(), textPairs()).Broadcast()
			with := mr.With(mr.Each(g, "with", same, words.Pipe()), other)
			return mr.Each(g, "look", &careless{side: other}, with.Pipe())
		}), []string{"stage look, node 0", `side of stage "other"`, "not given"}},
		"group": {countAs(func(g *mr.Graph, words stage) stage {
			return mr.Group(g, "sum", mr.ReduceFunc(func(*mr.Task, string, iter.Seq[int64], countEmitter) error { panic("no way") }), words.Shuffle())
		}), []string{"stage sum, node 0: panic: no way", "graph_run_test.go:"}},
		"a side that was not given": {countAs(func(g *mr.Graph, words stage) stage {
			other := mr.Read(g, "other", mr.KeyValueText(), textPairs()).Broadcast()
			with := mr.With(mr.Each(g, "with", same, words.Pipe()), other)
			return mr.Each(g, "without", mr.MapFunc(func(t *mr.Task, _ string, _ int64, _ countEmitter) error {
				for range other.All(t) {
				}
				return nil
			}), with.Shuffle())
		}), []string{`stage without, node 0: side of stage "other": not given to the stage that reads it; mr.With(stage, side)`}},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputDir(t, "a b\n")
			fails(t, c.d, mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", "-D", "mapreduce.reduce.maxattempts=1", in, in, outputDir(t)}, c.want...)
		})
	}
}

// TestNamedOutputOfAnotherStage writes to an output from a stage to which With has not given it. Its
// files could have the names of another stage's files.
func TestNamedOutputOfAnotherStage(t *testing.T) {
	d := mr.Define("outputs", none{}, func(g *mr.Graph, _ none) {
		x := mr.AddOutput(g, "x", textual)
		a := mr.With(mr.Read(g, "a", lineFile, tokens), x)
		mr.Write(mr.Each(g, "b", mr.MapFunc(func(t *mr.Task, key string, n int64, _ countEmitter) error {
			return x.Emit(t, key, n)
		}), a.Shuffle()), textual)
	})
	fails(t, d, mr.ExitFailed, []string{"-D", "mapreduce.reduce.maxattempts=1", inputDir(t, "a\n"), outputDir(t)},
		`stage b, node 0: output "x": not given to the stage that writes to it; mr.With(stage, output) does that`)
}
