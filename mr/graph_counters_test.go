package mr_test

import (
	"maps"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestCountersOfAGraph checks that sources use the map counters and all other stages use the
// reduce counters.
func TestCountersOfAGraph(t *testing.T) {
	d := mr.Define("counters", none{}, func(g *mr.Graph, _ none) {
		read := mr.Read(g, "read", lineFile, tokens)
		kept := mr.Each(g, "kept", same, read.Pipe())
		mr.Write(mr.Group(g, "sum", sums, kept.Shuffle().Combine(sums)), textual)
	})
	got := mrtest.RunGraph(t, d, mrtest.Case{Inputs: []string{"a b a\nc a\n"}})
	if want := map[string]string{"part-r-00000": "a\t3\nb\t1\nc\t1\n"}; !maps.Equal(got.Files, want) || got.Text() != want["part-r-00000"] {
		t.Errorf("files %q, text %q", got.Files, got.Text())
	}
	wantCounters(t, got.Counters, map[string]int64{
		"Map input records":      2,
		"Map output records":     10, // 5 by the source, 5 by the piped stage, which combines
		"Combine input records":  5,
		"Combine output records": 3,
		"Reduce input groups":    3,
		"Reduce input records":   8, // 5 piped and 3 combined
		"Reduce output records":  8,
	})
}

// TestInvalidGraphs checks that an expected failure returns no files.
func TestInvalidGraphs(t *testing.T) {
	d := mr.Define("failing", none{}, func(g *mr.Graph, _ none) {
		fail := mr.MapFunc(func(*mr.Task, int64, []byte, countEmitter) error { panic("as it should") })
		mr.Write(mr.Read(g, "read", lineFile, fail), textual)
	})
	got := mrtest.RunGraph(t, d, mrtest.Case{
		Inputs: []string{"a\n"}, Set: map[string]string{"mapreduce.map.maxattempts": "1"}, Fails: true,
	})
	if len(got.Files) > 0 {
		t.Errorf("files %q", got.Files)
	}
}

// TestConfigurationOfAGraph checks that a graph's configuration reaches the function that
// builds it and the functions that run in it.
func TestConfigurationOfAGraph(t *testing.T) {
	type config struct{ Name, Text string }
	d := mr.Define("configured", config{"usual", "usual"}, func(g *mr.Graph, c config) {
		emit := mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out textEmitter) error {
			out.Emit(t.Stage(), mr.ConfigOf[config](t).Text+string(line))
			return nil
		})
		mr.Write(mr.Read(g, c.Name, lineFile, emit), mr.TextOutput[string, string]())
	})
	for want, c := range map[string]any{"usual\tusual!\n": nil, "other\tthat!\n": config{"other", "that"}} {
		if got := mrtest.RunGraph(t, d, mrtest.Case{Inputs: []string{"!\n"}, Config: c}).Text(); got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
	}
}
