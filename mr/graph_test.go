package mr_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
)

// ones maps each line to itself and 1.
func ones() mr.Mapper[int64, []byte, []byte, int64] {
	return mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
		out.Emit(line, 1)
		return nil
	})
}

func TestGraphsOfAProgram(t *testing.T) {
	count := mr.New("count", mr.TextLines(), ones(), mr.Sum[[]byte, int64](), mr.TextOutput[[]byte, int64]()).Reduces(3)
	copies := mr.MapOnly("copies", mr.TextLines(), mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, []byte]) error {
		out.Emit(line, nil)
		return nil
	}), mr.TextOutput[[]byte, []byte]())
	p := &mr.Program{Name: "both", Jobs: []mr.Runnable{count, copies}}
	for _, c := range []struct {
		reduces int
		want    []int // reduces of each job
	}{{-1, []int{3, 0}}, {7, []int{7, 0}}, {0, []int{0, 0}}} {
		graphs, err := p.Graphs(5, c.reduces)
		must.Do(t, err)
		var got []string
		for _, g := range graphs {
			got = append(got, g.Job+"\n"+g.Graph.String())
		}
		want := []string{"count\n" + dag.MapReduce(5, c.want[0]).String(), "copies\n" + dag.MapReduce(5, c.want[1]).String()}
		if !slices.Equal(got, want) {
			t.Errorf("with %d reduces:\n%v\nwant\n%v", c.reduces, got, want)
		}
	}
}

func TestGraphsRefuseNumbersThatNoJobRunsWith(t *testing.T) {
	lengths := mr.New("lengths", mr.TextLines(), ones(),
		mr.ReduceFunc(func(_ *mr.Task, word []byte, _ iter.Seq[int64], out mr.Emitter[[]byte, []byte]) error {
			out.Emit(word, word)
			return nil
		}), mr.TextOutput[[]byte, []byte]())
	p := &mr.Program{Name: "lengths", Jobs: []mr.Runnable{lengths}}
	for _, c := range []struct {
		maps, reduces int
		want          string
	}{
		{-2, 1, `stage "map": -2 nodes`},
		{1, 0, "job lengths needs its reducer"},
		{1, 1 << 40, `stage "reduce": 1099511627776 nodes`},
	} {
		if _, err := p.Graphs(c.maps, c.reduces); !errors.Is(err, mr.ErrUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d maps, %d reduces: %v, want %q", c.maps, c.reduces, err, c.want)
		}
	}
}
