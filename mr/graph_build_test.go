package mr_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

type none = struct{}

// Functions, inputs and outputs that the graphs of tests use.
var (
	tokens   = words
	same     = mr.IdentityMapper[string, int64]()
	sums     = mr.Sum[string, int64]()
	textual  = mr.TextOutput[string, int64]()
	nowhere  = mr.NullOutput[string, int64]()
	lineFile = mr.TextLines()
)

// graphOf returns the graph of a definition with 3 splits for each input and 2 reduces.
func graphOf(t *testing.T, d *mr.Definition) dag.Graph {
	t.Helper()
	p := &mr.Program{Name: d.Name(), Jobs: []mr.Runnable{d}}
	graphs, err := p.Graphs(3, 2)
	must.Do(t, err)
	return graphs[0].Graph
}

// TestGraphOfMapAndReduce checks that a graph with stages called map and reduce has the same
// fingerprint as the graph of mr.New.
func TestGraphOfMapAndReduce(t *testing.T) {
	d := mr.Define("count", none{}, func(g *mr.Graph, _ none) {
		m := mr.Read(g, "map", lineFile, tokens)
		mr.Write(mr.Group(g, "reduce", sums, m.Shuffle()), textual)
	})
	if got, want := graphOf(t, d), dag.MapReduce(3, 2); got.Fingerprint() != want.Fingerprint() {
		t.Errorf("graph\n%vwant\n%v", got, want)
	}
}

// TestShapes builds one graph with each kind of channel and connection.
func TestShapes(t *testing.T) {
	d := mr.Define("shapes", none{}, func(g *mr.Graph, _ none) {
		read := mr.Read(g, "read", lineFile, tokens)
		other := mr.Read(g, "other", lineFile, tokens)
		piped := mr.Each(g, "piped", same, read.Pipe()).Slots(dag.SlotMap)
		machine := mr.Group(g, "machine", sums, piped.PerMachine(4))
		sum := mr.Group(g, "sum", sums, machine.Shuffle(), other.Shuffle())
		one := mr.Group(g, "one", sums, sum.Via(dag.ChannelFile, mr.Gather))
		again := mr.Each(g, "again", same, sum.Via(dag.ChannelFile, mr.OneToOne))
		mr.With(again, one.Broadcast())
		live := mr.Each(g, "live", same, again.Stream(mr.AllToAll)).Nodes(5)
		mr.Write(mr.Group(g, "last", sums, live.Stream(mr.Gather)), textual)
		mr.WriteAs(live, "live", textual)
	})
	want := `stage "read" 3 map
stage "other" 3 map
stage "piped" 3 map
stage "machine" 4 reduce
stage "sum" 2 reduce
stage "one" 1 reduce
stage "again" 2 reduce
stage "live" 5 reduce
stage "last" 1 reduce
edge "read" -> "piped" shm one-to-one
edge "piped" -> "machine" file per-machine
edge "machine" -> "sum" file all-to-all
edge "other" -> "sum" file all-to-all
edge "sum" -> "one" file gather
edge "sum" -> "again" file one-to-one
edge "one" -> "again" file broadcast
edge "again" -> "live" tcp all-to-all
edge "live" -> "last" tcp gather
`
	if got := graphOf(t, d).String(); got != want {
		t.Errorf("graph\n%swant\n%s", got, want)
	}
}

// TestShapeFollowsFromTheConfiguration builds a graph with the number of rounds that its
// configuration sets.
func TestShapeFollowsFromTheConfiguration(t *testing.T) {
	type config struct{ Rounds int }
	d := mr.Define("rounds", config{3}, func(g *mr.Graph, c config) {
		last := mr.Read(g, "read", lineFile, tokens)
		for round := range c.Rounds {
			last = mr.Group(g, fmt.Sprintf("round-%d", round), sums, last.Shuffle())
		}
		mr.Write(last, textual)
	})
	if got := len(graphOf(t, d).Stages); got != 4 {
		t.Errorf("%d stages, want 4", got)
	}
}

// lineNow returns the line number of its caller.
func lineNow() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// misuse builds an invalid graph and sets at to the line of the faulty call.
type misuse struct {
	build func(g *mr.Graph, at *int)
	want  string
}

var misuses = map[string]misuse{
	"nothing": {func(*mr.Graph, *int) {}, "a graph without stages"},
	"name twice": {func(g *mr.Graph, at *int) {
		mr.Write(mr.Read(g, "a", lineFile, tokens), nowhere)
		*at = lineNow() + 1
		mr.Write(mr.Read(g, "a", lineFile, tokens), nowhere)
	}, `stage "a": name used twice, first at `},
	"no mapper": {func(g *mr.Graph, at *int) {
		*at = lineNow() + 1
		s := mr.Read[int64, []byte, string, int64](g, "a", lineFile, nil)
		mr.Write(s, textual)
	}, `stage "a": a mapper that is nil`},
	"no input format": {func(g *mr.Graph, at *int) {
		*at = lineNow() + 1
		s := mr.Read(g, "a", nil, tokens)
		mr.Write(s, textual)
	}, `stage "a": an input that is nil`},
	"no reducer": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Group[string, int64, string, int64](g, "b", nil, read.Shuffle())
		mr.Write(s, textual)
	}, `stage "b": a reducer that is nil`},
	"no inputs": {func(g *mr.Graph, at *int) {
		*at = lineNow() + 1
		s := mr.Group(g, "b", sums)
		mr.Write(s, textual)
	}, `stage "b": no input`},
	"a channel without a stage": {func(g *mr.Graph, at *int) {
		*at = lineNow() + 1
		s := mr.Group(g, "b", sums, mr.Channel[string, int64]{})
		mr.Write(s, textual)
	}, `stage "b": a channel that no stage has made`},
	"a stage of another graph": {func(g *mr.Graph, at *int) {
		other := anotherGraph()
		*at = lineNow() + 1
		s := mr.Group(g, "b", sums, other.Shuffle())
		mr.Write(s, textual)
	}, `stage "b": channel of stage "read", which belongs to another graph`},
	"joined twice": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Group(g, "b", sums, read.Shuffle(), read.Shuffle())
		mr.Write(s, textual)
	}, `stage "b": reads stage "a" twice`},
	"no stage reads it": {func(g *mr.Graph, at *int) {
		*at = lineNow() + 1
		mr.Read(g, "a", lineFile, tokens)
	}, `stage "a": no stage reads what it emits: Write it`},
	"two outputs": {func(g *mr.Graph, at *int) {
		read := mr.Write(mr.Read(g, "a", lineFile, tokens), textual)
		s := mr.Group(g, "b", sums, read.Shuffle())
		*at = lineNow() + 1
		mr.Write(s, textual)
	}, `stage "b": the job's output is written already, by stage "a"; use WriteAs`},
	"two outputs of a name": {func(g *mr.Graph, at *int) {
		read := mr.WriteAs(mr.Read(g, "a", lineFile, tokens), "x", textual)
		s := mr.Group(g, "b", sums, read.Shuffle())
		*at = lineNow() + 1
		mr.WriteAs(s, "x", textual)
	}, `stage "b": output name "x": declared twice, first for stage "a"; choose another name`},
	"a name of WriteAs and AddOutput": {func(g *mr.Graph, at *int) {
		read := mr.WriteAs(mr.Read(g, "a", lineFile, tokens), "x", textual)
		*at = lineNow() + 1
		mr.With(read, mr.AddOutput(g, "x", textual))
	}, `output name "x": declared twice, first for stage "a"`},
	"a name of AddOutput and WriteAs": {func(g *mr.Graph, at *int) {
		x := mr.AddOutput(g, "x", textual)
		*at = lineNow() + 1
		mr.With(mr.WriteAs(mr.Read(g, "a", lineFile, tokens), "x", textual), x)
	}, `stage "a": output name "x": declared twice, first for AddOutput`},
	"a named output of two sources": {func(g *mr.Graph, at *int) {
		x := mr.AddOutput(g, "x", textual)
		a, b := mr.Read(g, "a", lineFile, tokens), mr.Read(g, "b", lineFile, tokens)
		mr.Write(mr.Group(g, "c", sums, a.Shuffle(), b.Shuffle()), textual)
		mr.With(a, x)
		*at = lineNow() + 1
		mr.With(b, x)
	}, `stage "b": output "x" is written by stage "a", into files of the same names; add an output of another name for this stage`},
	"a named output of two other stages": {func(g *mr.Graph, at *int) {
		x := mr.AddOutput(g, "x", textual)
		a := mr.With(mr.Read(g, "a", lineFile, tokens), x)
		b := mr.With(mr.Group(g, "b", sums, a.Shuffle()), x)
		*at = lineNow() + 1
		mr.With(mr.Write(mr.Group(g, "c", sums, b.Shuffle()), textual), x)
	}, `stage "c": output "x" is written by stage "b"`},
	"a named output of no stage": {func(g *mr.Graph, _ *int) {
		mr.AddOutput(g, "x", textual)
		mr.Write(mr.Read(g, "a", lineFile, tokens), textual)
	}, `output "x": no stage writes to it; give it to one by With`},
	"a named output of another job": {func(g *mr.Graph, at *int) {
		read := mr.Write(mr.Read(g, "a", lineFile, tokens), textual)
		*at = lineNow() + 1
		mr.With(read, mr.AddOutput(wordCount(), "x", textual))
	}, `stage "a": output "x", which belongs to another job`},
	"an output without a format": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		*at = lineNow() + 1
		mr.Write(read, nil)
	}, `stage "a": no output: use NullOutput`},
	"nodes of a source": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		*at = lineNow() + 1
		read.Nodes(3)
		mr.Write(read, textual)
	}, `stage "a": Nodes of a stage that reads the job's input`},
	"no nodes": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		s := mr.Write(mr.Group(g, "b", sums, read.Shuffle()), textual)
		*at = lineNow() + 1
		s.Nodes(0)
	}, `stage "b": 0 nodes; at least 1`},
	"kept for other numbers": {func(g *mr.Graph, at *int) {
		sum := mr.Group(g, "a", sums, mr.Read(g, "read", lineFile, tokens).Shuffle())
		*at = lineNow() + 1
		s := mr.Each(g, "b", same, sum.Keep())
		mr.Write(s.Nodes(3), textual)
	}, `stage "b": one-to-one between mapreduce.job.reduces nodes of stage "a" and 3 nodes; set the same number with Nodes, or use Shuffle`},
	"a channel for different numbers": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "read", lineFile, tokens)
		*at = lineNow() + 1
		c := read.Shuffle()
		mr.Write(mr.Group(g, "a", sums, c), textual)
		mr.WriteAs(mr.Group(g, "b", sums, c).Nodes(3), "b", textual)
	}, `stage "b": reads a channel of stage "read" that is divided among mapreduce.job.reduces nodes of stage "a", and has 3 nodes; call Shuffle once for each`},
	"no co-reducer": {func(g *mr.Graph, at *int) {
		a, b := mr.Read(g, "a", lineFile, tokens), mr.Read(g, "b", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.CoGroup[string, int64, int64, string, int64](g, "c", nil, a.Shuffle(), b.Shuffle())
		mr.Write(s, textual)
	}, `stage "c": a reducer that is nil`},
	"a pipe into a CoGroup": {func(g *mr.Graph, at *int) {
		a, b := mr.Read(g, "a", lineFile, tokens), mr.Read(g, "b", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.CoGroup(g, "c", bothSums, a.Shuffle(), b.Pipe())
		mr.Write(s, textual)
	}, `stage "c": a shm channel into a CoGroup; it reads files`},
	"a CoGroup by keys that differ": {func(g *mr.Graph, at *int) {
		a, b := mr.Read(g, "a", lineFile, tokens), mr.Read(g, "b", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.CoGroup(g, "c", bothSums, a.Shuffle(), b.Shuffle().KeyCodec(upsideDown{}))
		mr.Write(s, textual)
	}, `stage "c": channels with different codecs of keys`},
	"a pipe into other numbers": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Each(g, "b", same, read.Pipe())
		mr.Write(s.Nodes(3), textual)
	}, `stage "b": one-to-one between as many nodes as "a" has splits of stage "a" and 3 nodes`},
	"pipes of two sources": {func(g *mr.Graph, at *int) {
		a, b := mr.Read(g, "a", lineFile, tokens), mr.Read(g, "b", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Group(g, "c", sums, a.Via(dag.ChannelFile, mr.OneToOne), b.Via(dag.ChannelFile, mr.OneToOne))
		mr.Write(s, textual)
	}, `stage "c": one-to-one between as many nodes as "b" has splits of stage "b" and as many nodes as "a" has splits`},
	"gather into several": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Group(g, "b", sums, read.Stream(mr.Gather))
		mr.Write(s.Nodes(2), textual)
	}, `stage "b": gather into 2 nodes instead of 1`},
	"all in one process": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Group(g, "b", sums, read.Via(dag.ChannelSHM, mr.AllToAll))
		mr.Write(s.Nodes(2), textual)
	}, `stage "b": all-to-all within a process puts all nodes of both stages on one machine`},
	"streams in addition to others": {func(g *mr.Graph, at *int) {
		a, b := mr.Read(g, "a", lineFile, tokens), mr.Read(g, "b", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Group(g, "c", sums, a.Shuffle(), b.Stream(mr.AllToAll))
		mr.Write(s, textual)
	}, `stage "c": a tcp channel in addition to others`},
	"a combiner on a stream": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Group(g, "b", sums, read.Stream(mr.AllToAll).Combine(sums))
		mr.Write(s, textual)
	}, `stage "a": combiner on a channel that is no file`},
	"no machines": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Group(g, "b", sums, read.PerMachine(0))
		mr.Write(mr.Group(g, "c", sums, s.Nodes(1).Shuffle()), textual)
	}, `stage "a": per-machine for 0 machines`},
	"a side for a source": {func(g *mr.Graph, at *int) {
		a := mr.Read(g, "a", lineFile, tokens)
		b := mr.Write(mr.Read(g, "b", lineFile, tokens), textual)
		*at = lineNow() + 1
		mr.With(b, a.Broadcast())
	}, `stage "b": a side for a stage that reads the job's input`},
	"a side without a stage": {func(g *mr.Graph, at *int) {
		a := mr.Write(mr.Read(g, "a", lineFile, tokens), textual)
		*at = lineNow() + 1
		a.Broadcast()
	}, `stage "a": a side that no stage reads`},
	"a side that is read anyway": {func(g *mr.Graph, at *int) {
		a := mr.Read(g, "a", lineFile, tokens)
		b := mr.Write(mr.Group(g, "b", sums, a.Shuffle()), textual)
		*at = lineNow() + 1
		mr.With(b, a.Broadcast())
	}, `stage "b": reads stage "a" twice`},
	"keys without an order": {func(g *mr.Graph, at *int) {
		m := mr.MapFunc(func(_ *mr.Task, _ int64, _ []byte, out mr.Emitter[[]int, int64]) error { return nil })
		read := mr.Read(g, "a", lineFile, m)
		*at = lineNow() + 1
		s := mr.Group(g, "b", mr.Sum[[]int, int64](), read.Pipe())
		mr.Write(s, mr.NullOutput[[]int, int64]())
	}, `stage "b": channel of stage "a": no ordered codec for keys of type []int`},
	"codecs that differ": {func(g *mr.Graph, at *int) {
		a, b := mr.Read(g, "a", lineFile, tokens), mr.Read(g, "b", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Group(g, "c", sums, a.Shuffle(), b.Shuffle().ValueCodec(mr.JSON[int64]()))
		mr.Write(s, textual)
	}, `stage "c": channels with different codecs`},
	"a changed channel that is dropped": {func(g *mr.Graph, at *int) {
		c := mr.Read(g, "a", lineFile, tokens).Shuffle()
		mr.Write(mr.Group(g, "b", sums, c), textual)
		*at = lineNow() + 1
		c.Combine(sums)
	}, `a changed channel that no stage reads`},
	"a partition function of a pipe": {func(g *mr.Graph, at *int) {
		read := mr.Read(g, "a", lineFile, tokens)
		*at = lineNow() + 1
		s := mr.Each(g, "b", same, read.Pipe().Partition(func(string, int) int { return 0 }))
		mr.Write(s, textual)
	}, `stage "a": partition function on a one-to-one channel`},
	"a name of further outputs": {func(g *mr.Graph, at *int) {
		mr.Write(mr.Read(g, "a", lineFile, tokens), textual)
		*at = lineNow() + 1
		mr.AddOutput(g, "part", textual)
	}, `output name "part": use letters and digits`},
	"a file that is waited for by its writer": {func(g *mr.Graph, _ *int) {
		a := mr.Read(g, "a", lineFile, tokens)
		b := mr.Each(g, "b", same, a.Pipe())
		mr.Write(mr.Group(g, "c", sums, b.Via(dag.ChannelSHM, mr.OneToOne)), textual)
		mr.With(mr.WriteAs(mr.Each(g, "d", same, a.Pipe()), "d", textual), b.Broadcast())
	}, `waits for a file that it writes itself`},
	"a name for no file": {func(g *mr.Graph, _ *int) {
		mr.Write(mr.Read(g, "a/b", lineFile, tokens), textual)
	}, `stage "a/b": name not usable in names of files`},
}

// TestMisuse checks that each error names the file and line of the faulty call.
func TestMisuse(t *testing.T) {
	for name, c := range misuses {
		at := 0
		d := mr.Define("job", none{}, func(g *mr.Graph, _ none) { c.build(g, &at) })
		_, err := (&mr.Program{Name: "p", Jobs: []mr.Runnable{d}}).Graphs(1, 1)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		place := "graph_build_test.go:"
		if at > 0 {
			place = fmt.Sprintf("graph_build_test.go:%d: job job: ", at)
		}
		found := false
		for line := range strings.Lines(err.Error()) {
			found = found || strings.Contains(line, place) && strings.Contains(line, c.want)
		}
		if !found {
			t.Errorf("%s: no line with %q and %q in\n%v", name, place, c.want, err)
		}
	}
}

// TestStoredSideAfterWith checks that the order of the calls does not matter.
func TestStoredSideAfterWith(t *testing.T) {
	for _, first := range []bool{true, false} {
		d := mr.Define("stored", none{}, func(g *mr.Graph, _ none) {
			read := mr.Read(g, "read", lineFile, tokens)
			side := read.Broadcast()
			if first {
				side.Stored()
			}
			mr.Write(mr.With(mr.Each(g, "last", same, mr.Read(g, "other", lineFile, tokens).Shuffle()), side), textual)
			if !first {
				side.Stored()
			}
		})
		for _, e := range graphOf(t, d).Edges {
			if e.Stored != (e.From == "read") {
				t.Errorf("stored before With: %v: edge %v", first, e)
			}
		}
	}
}

// TestOptionsWithoutEffect builds jobs with options that would be ignored.
func TestOptionsWithoutEffect(t *testing.T) {
	mapOnly := func() *mr.Job[string, int64, string, int64] { return mr.MapOnly("only", lineFile, tokens, textual) }
	const noReduce = " in a job without reduce phase"
	for want, job := range map[string]mr.Runnable{
		"a combiner" + noReduce:                               mapOnly().Combine(sums),
		"a partition function" + noReduce:                     mapOnly().Partition(func(string, int) int { return 0 }),
		"a codec of keys between map and reduce" + noReduce:   mapOnly().KeyCodec(mr.JSON[string]()),
		"a codec of values between map and reduce" + noReduce: mapOnly().ValueCodec(mr.JSON[int64]()),
		"GroupFirst" + noReduce:                               mapOnly().GroupFirst(),
		"TotalOrder" + noReduce:                               mapOnly().TotalOrder(),
		"TotalOrder with a partition function":                wordCount().TotalOrder().Partition(func(string, int) int { return 0 }),
		"no output: use NullOutput for a job that writes":     wordCount().WithOutput(nil),
	} {
		_, err := (&mr.Program{Name: "p", Jobs: []mr.Runnable{job}}).Graphs(1, 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// anotherGraph returns a stage of another graph.
func anotherGraph() (stage *mr.Stage[string, int64]) {
	d := mr.Define("another", none{}, func(g *mr.Graph, _ none) {
		stage = mr.Write(mr.Read(g, "read", lineFile, tokens), textual)
	})
	if _, err := (&mr.Program{Name: "p", Jobs: []mr.Runnable{d}}).Graphs(1, 1); err != nil {
		panic(err)
	}
	return stage
}

// TestMisuseIsReportedBeforeTheJobRuns checks that a command reports an invalid graph before it
// runs the job.
func TestMisuseIsReportedBeforeTheJobRuns(t *testing.T) {
	d := mr.Define("job", none{}, func(g *mr.Graph, _ none) { mr.Read(g, "a", lineFile, tokens) })
	got := mrtest.Exec(t, d, inputDir(t, "a\n"), outputDir(t))
	if got.Code != mr.ExitFailed || !strings.Contains(got.Stderr, "no stage reads what it emits") || strings.Contains(got.Stderr, "Running job") {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
}

// TestNoReducesForAGraph checks that zero reduces are refused, because every record would be
// lost.
func TestNoReducesForAGraph(t *testing.T) {
	d := mr.Define("count", none{}, func(g *mr.Graph, _ none) {
		mr.Write(mr.Group(g, "sum", sums, mr.Read(g, "read", lineFile, tokens).Shuffle()), textual)
	})
	fails(t, d, mr.ExitUsage, []string{"-D", "mapreduce.job.reduces=0", inputDir(t, "a\n"), outputDir(t)},
		"mapreduce.job.reduces=0: stage sum of job count would have no nodes; set at least 1")
}
