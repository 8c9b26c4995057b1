// Package mean is the mean of the numbers of each key.
package mean

import (
	"iter"

	"github.com/hammr/hammr/examples/internal/decimal"
	"github.com/hammr/hammr/mr"
)

// Job reads lines of key, tab and number, and writes key and mean, rounded to
// six digits. A combiner cannot take means of means; it adds up tallies.
var Job = mr.New("mean",
	mr.KeyValueText(),
	mr.MapFunc(func(_ *mr.Task, key, value []byte, out mr.Emitter[[]byte, tally]) error {
		n, err := decimal.Parse(value)
		if err != nil {
			return err
		}
		out.Emit(key, tallyOf(n))
		return nil
	}),
	mr.ReduceFunc(func(_ *mr.Task, key []byte, tallies iter.Seq[tally], out mr.Emitter[[]byte, decimal.Number]) error {
		var all tally
		for t := range tallies {
			all = add(all, t)
		}
		out.Emit(key, meanOf(all))
		return nil
	}),
	mr.TextOutput[[]byte, decimal.Number](),
).Combine(mr.Fold[[]byte](add))

// Program is the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "mean",
		Summary: "A map/reduce program that computes the mean of the numbers of each key.",
		Jobs:    []mr.Runnable{Job},
	}
}
