// Package join joins two inputs by their keys.
//
//	left          right                   output
//	1	ada         2	5.50                  1	ada	3.20
//	2	grace       1	3.20        ──>       2	grace	5.50
//
//	hammr run join left right out
//
// The values of a key of the first input come before those of the second. So only the rows
// of one key of the first input must fit in memory; put the smaller input first.
package join

import (
	"context"
	"iter"

	"github.com/hammr/hammr/mr"
)

// Job reads lines of key, tab and value, and writes key, left value and right
// value for each pair of lines that have the same key.
var Job = mr.Define("join", struct{}{}, func(g *mr.Graph, _ struct{}) {
	rows := mr.IdentityMapper[[]byte, []byte]()
	left := mr.Read(g, "left", mr.KeyValueText(), rows)
	right := mr.Read(g, "right", mr.KeyValueText(), rows)
	join := mr.CoReducer[[]byte, []byte, []byte, []byte, []byte](&joiner{})
	mr.Write(mr.CoGroup(g, "join", join, left.Shuffle(), right.Shuffle()), mr.TextOutput[[]byte, []byte]())
})

// joiner joins the rows of one key at a time. Its fields are memory that it reuses.
type joiner struct {
	lefts []byte // the left values, one after another
	ends  []int  // where each of them ends
	both  []byte // a left and a right value
}

// Reduce implements mr.CoReducer.
func (j *joiner) Reduce(_ *mr.Task, key []byte, left, right iter.Seq[[]byte], out mr.Emitter[[]byte, []byte]) error {
	j.lefts, j.ends = j.lefts[:0], j.ends[:0]
	for l := range left {
		j.lefts = append(j.lefts, l...)
		j.ends = append(j.ends, len(j.lefts))
	}
	for r := range right {
		begin := 0
		for _, end := range j.ends {
			j.both = append(append(append(j.both[:0], j.lefts[begin:end]...), '\t'), r...)
			out.Emit(key, j.both)
			begin = end
		}
	}
	return nil
}

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "join",
		Summary: "A map/reduce program that joins two inputs of key and value by their keys.",
		Usage:   "<left in> <right in> <out>",
		Jobs:    []mr.Runnable{Job},
		Run: func(ctx context.Context, d *mr.Driver) error {
			if len(d.Args) != 3 {
				return mr.ErrUsage
			}
			return d.Run(ctx, Job, mr.JobRun{In: d.Args[:2], Out: d.Args[2]})
		},
	}
}
