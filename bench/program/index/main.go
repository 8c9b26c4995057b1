// Command index lists for each word the files in which it occurs, with the number of times. It
// has no combiner: every word of the text passes through the shuffle.
//
//	the	00.txt:1	01.txt:2
package main

import (
	"fmt"
	"iter"
	"path"

	"github.com/hammr/hammr/mr"
)

// posting is a word in a file. The word makes the groups; the file puts the values in order.
type posting = mr.Pair[[]byte, string]

var job = mr.New("index",
	mr.TextLines(),
	mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out mr.Emitter[posting, string]) error {
		name, _ := t.Input()
		file := path.Base(name)
		for word := range mr.Words(line) {
			out.Emit(posting{First: word, Second: file}, file)
		}
		return nil
	}),
	mr.ReduceFunc(list),
	mr.TextOutput[[]byte, []byte](),
).GroupFirst()

// list counts how often each file occurs among the files of a word.
func list(_ *mr.Task, p posting, files iter.Seq[string], out mr.Emitter[[]byte, []byte]) error {
	var line []byte
	last, times := "", 0
	for file := range files {
		if file != last {
			line = appendCount(line, last, times)
			last, times = file, 0
		}
		times++
	}
	out.Emit(p.First, appendCount(line, last, times))
	return nil
}

// appendCount appends nothing for a count of 0.
func appendCount(line []byte, file string, times int) []byte {
	if times == 0 {
		return line
	}
	if len(line) > 0 {
		line = append(line, '\t')
	}
	return fmt.Appendf(line, "%s:%d", file, times)
}

func main() { mr.Main(job) }
