// Command toppages lists the 100 pages with the most lines in a log, the most frequent first,
// with their counts. Lines of the log have a time, a user, a page and a duration, separated by
// tabs.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/mr"
)

// length is the number of pages in the list.
const length = 100

type nothing = struct{}

// rank orders pages by count, the greatest first, then by their bytes.
type rank = mr.Pair[mr.Desc[int64], string]

var job = mr.Define("toppages", nothing{}, func(g *mr.Graph, _ nothing) {
	views := mr.Read(g, "views", mr.TextLines(), mr.MapFunc(view))
	counts := mr.Group(g, "counts", mr.Sum[[]byte, int64](), views.Shuffle().Combine(mr.Sum[[]byte, int64]()))
	ranks := mr.Each(g, "ranks", mr.MapFunc(rankOf), counts.Pipe())
	top := mr.Group(g, "list", mr.Reducer[rank, nothing, string, int64](new(list)), ranks.Via(dag.ChannelFile, mr.Gather))
	mr.Write(top, mr.TextOutput[string, int64]())
})

func view(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
	fields := bytes.SplitN(line, []byte("\t"), 4)
	if len(fields) < 4 {
		return fmt.Errorf("line %q has no page", line)
	}
	out.Emit(fields[2], 1)
	return nil
}

func rankOf(_ *mr.Task, page []byte, n int64, out mr.Emitter[rank, nothing]) error {
	out.Emit(rank{First: mr.Desc[int64]{Value: n}, Second: string(page)}, nothing{})
	return nil
}

// list writes the first ranks. Its stage has one Node, which sees all ranks in order.
type list struct{ written int }

// Reduce implements mr.Reducer.
func (l *list) Reduce(_ *mr.Task, r rank, _ iter.Seq[nothing], out mr.Emitter[string, int64]) error {
	if l.written < length {
		out.Emit(r.Second, r.First.Value)
		l.written++
	}
	return nil
}

// Save implements mr.Stateful.
func (l *list) Save() ([]byte, error) { return json.Marshal(l.written) }

// Load implements mr.Stateful.
func (l *list) Load(saved []byte) error { return json.Unmarshal(saved, &l.written) }

func main() { mr.Main(job) }
