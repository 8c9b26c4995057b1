// Package join joins two inputs by their keys.
//
//	left          right                   output
//	1	ada         2	5.50                  1	ada	3.20
//	2	grace       1	3.20        ──>       2	grace	5.50
//
//	hammr run join left right out
//
// Each input has a mapper of its own. The reducer relies on the order in which the values of
// a key arrive: values of the first input come before values of the second. So only the rows
// of one key of the first input must fit in memory; put the smaller input first.
package join

import (
	"context"
	"iter"

	"github.com/hammr/hammr/mr"
)

// row is the value of a line, with the input that the line is from.
type row = mr.Pair[side, []byte]

type side uint8

const (
	left side = iota
	right
)

// mark returns the mapper for the lines of one side.
func mark(from side) mr.Mapper[[]byte, []byte, []byte, row] {
	return mr.MapFunc(func(_ *mr.Task, key, value []byte, out mr.Emitter[[]byte, row]) error {
		out.Emit(key, row{First: from, Second: value})
		return nil
	})
}

// Job reads lines of key, tab and value, and writes key, left value and right
// value for each pair of lines that have the same key.
var Job = mr.AddInput(mr.New("join",
	mr.KeyValueText(),
	mark(left),
	mr.Reducer[[]byte, row, []byte, []byte](&joiner{}),
	mr.TextOutput[[]byte, []byte](),
), mr.KeyValueText(), mark(right))

// joiner joins the rows of one key at a time. Its fields are memory that it reuses.
type joiner struct {
	lefts []byte // the left values, one after another
	ends  []int  // where each of them ends
	both  []byte // a left and a right value
}

// Reduce implements mr.Reducer.
func (j *joiner) Reduce(_ *mr.Task, key []byte, rows iter.Seq[row], out mr.Emitter[[]byte, []byte]) error {
	j.lefts, j.ends = j.lefts[:0], j.ends[:0]
	for r := range rows {
		if r.First == left {
			j.lefts = append(j.lefts, r.Second...)
			j.ends = append(j.ends, len(j.lefts))
			continue
		}
		begin := 0
		for _, end := range j.ends {
			j.both = append(append(append(j.both[:0], j.lefts[begin:end]...), '\t'), r.Second...)
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
