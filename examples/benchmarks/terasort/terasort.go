// Package terasort sorts the rows of teragen by their keys, as the sort benchmark asks for.
//
//	hammr run teragen 1m rows
//	hammr run terasort rows sorted
//	hammr run teravalidate sorted report
package terasort

import (
	"github.com/hammr/hammr/examples/benchmarks/teragen"
	"github.com/hammr/hammr/mr"
)

// Job sorts rows of 100 bytes by their first 10 bytes. The output's files, concatenated, are
// sorted, whatever their number. Rows with equal keys keep the order of the input.
var Job = mr.New("terasort",
	mr.FixedLength(teragen.RowSize),
	mr.MapFunc(func(_ *mr.Task, _ int64, row []byte, out mr.Emitter[[]byte, []byte]) error {
		out.Emit(row[:teragen.KeySize], row[teragen.KeySize:])
		return nil
	}),
	mr.IdentityReducer[[]byte, []byte](),
	mr.BytesOutput(),
).TotalOrder()

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "terasort",
		Summary: "Run the terasort",
		Jobs:    []mr.Runnable{Job},
	}
}
