// Command plain is wordcount without a combiner: every word passes through the sort and the
// shuffle.
package main

import "github.com/hammr/hammr/mr"

var job = mr.New("plain",
	mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
		for word := range mr.Words(line) {
			out.Emit(word, 1)
		}
		return nil
	}),
	mr.Sum[[]byte, int64](),
	mr.TextOutput[[]byte, int64](),
)

func main() { mr.Main(job) }
