// Package broadcastjoin joins two inputs by their keys as join does, but sends only the
// smaller input. Each Node that reads rows of the larger input has the whole smaller input
// in memory. Hadoop calls this a map-side join. The result is sorted by key at the end.
//
//	small ──broadcast──┐
//	big ═════shm══════> join ──file──> sort
//
//	hammr run broadcastjoin small big out
package broadcastjoin

import (
	"context"

	"github.com/hammr/hammr/mr"
)

// Job reads lines of key, tab and value. For each pair of lines that have the same key it
// writes the key, the small value and the big value. The output has the same bytes as the
// output of join.
var Job = mr.Define("broadcastjoin", struct{}{}, func(g *mr.Graph, _ struct{}) {
	small := mr.Read(g, "small", mr.KeyValueText(), mr.IdentityMapper[[]byte, []byte]()).Broadcast()
	big := mr.Read(g, "big", mr.KeyValueText(), mr.IdentityMapper[[]byte, []byte]())
	joined := mr.With(mr.Each(g, "join", &joiner{small: small}, big.Pipe()), small)
	sorted := mr.Group(g, "sort", mr.IdentityReducer[[]byte, string](), joined.Shuffle())
	mr.Write(sorted, mr.TextOutput[[]byte, string]())
})

// joiner looks up the key of each big row among the small rows.
type joiner struct {
	small *mr.Side[[]byte, []byte]
	rows  map[string][]string // values of the small side by key, in order
}

// Setup implements mr.Setup.
func (j *joiner) Setup(t *mr.Task) error {
	j.rows = make(map[string][]string)
	for key, value := range j.small.All(t) {
		j.rows[string(key)] = append(j.rows[string(key)], string(value))
	}
	return nil
}

// Map implements mr.Mapper.
func (j *joiner) Map(_ *mr.Task, key, value []byte, out mr.Emitter[[]byte, string]) error {
	for _, small := range j.rows[string(key)] {
		out.Emit(key, small+"\t"+string(value))
	}
	return nil
}

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "broadcastjoin",
		Summary: "A program that joins a small input and a large one by their keys, with the small one in memory.",
		Usage:   "<small in> <big in> <out>",
		Jobs:    []mr.Runnable{Job},
		Run: func(ctx context.Context, d *mr.Driver) error {
			if len(d.Args) != 3 {
				return mr.ErrUsage
			}
			return d.Run(ctx, Job, mr.JobRun{In: d.Args[:2], Out: d.Args[2]})
		},
	}
}
