// Package secondarysort delivers the values of a key to the reducer in order. The order is
// part of the key, and GroupFirst makes groups by the first component alone. It is Hadoop's
// SecondarySort.
//
//	2 7           ------------------------------------------------
//	1 9           1	3
//	1 3    ──>    1	9
//	              ------------------------------------------------
//	              2	7
//
//	hammr run secondarysort in out
package secondarysort

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/hammr/hammr/mr"
)

type nothing = struct{}

const separator = "------------------------------------------------"

// Job reads lines of two whole numbers and writes them grouped by the first number and
// sorted by the second, with a separator before each group. A missing second number is 0.
// Lines without numbers and everything after the second number are ignored.
var Job = mr.New("secondarysort",
	mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[mr.Pair[int32, int32], int32]) error {
		var numbers [2]int32
		n := 0
		for word := range mr.Words(line) {
			i, err := strconv.ParseInt(string(word), 10, 32)
			if err != nil {
				return fmt.Errorf("line of two numbers: %w", err)
			}
			numbers[n] = int32(i)
			if n++; n == len(numbers) {
				break
			}
		}
		if n > 0 {
			out.Emit(mr.Pair[int32, int32]{First: numbers[0], Second: numbers[1]}, numbers[1])
		}
		return nil
	}),
	mr.ReduceFunc(func(_ *mr.Task, group mr.Pair[int32, int32], seconds iter.Seq[int32], out mr.Emitter[string, nothing]) error {
		out.Emit(separator, nothing{})
		for second := range seconds {
			out.Emit(fmt.Sprintf("%d\t%d", group.First, second), nothing{})
		}
		return nil
	}),
	mr.TextOutput[string, nothing](),
).GroupFirst()

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "secondarysort",
		Summary: "An example defining a secondary sort to the reduce.",
		Jobs:    []mr.Runnable{Job},
	}
}
