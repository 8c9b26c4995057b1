// Command naive is wordcount by an author who has not read the guide: with string keys,
// bytes.Fields, and a copy of each word.
package main

import (
	"bytes"

	"github.com/hammr/hammr/mr"
)

var job = mr.New("naive",
	mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[string, int]) error {
		for _, word := range bytes.Fields(line) {
			out.Emit(string(word), 1)
		}
		return nil
	}),
	mr.Sum[string, int](),
	mr.TextOutput[string, int](),
).Combine(mr.Sum[string, int]())

func main() { mr.Main(job) }
