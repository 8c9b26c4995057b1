package main

import (
	"bytes"
	"fmt"
	"iter"
	"path"

	"github.com/hammr/hammr/mr"
)

// index lists for each word the files in which it occurs, with the number of times. It has no
// combiner: every word of the text passes through the shuffle.
//
//	the	00.txt:1	01.txt:2
//
// It needs no secondary sort: the values of a key arrive in the order of the input's files.
var index = mr.New("index",
	mr.TextLines(),
	mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, []byte]) error {
		name, _ := t.Input()
		file := []byte(path.Base(name))
		for word := range mr.Words(line) {
			out.Emit(word, file)
		}
		return nil
	}),
	mr.ReduceFunc(listFiles),
	mr.TextOutput[[]byte, []byte](),
)

// listFiles counts how often each file occurs among the files of a word.
func listFiles(_ *mr.Task, word []byte, files iter.Seq[[]byte], out mr.Emitter[[]byte, []byte]) error {
	var line, last []byte
	times := 0
	for file := range files {
		if !bytes.Equal(file, last) {
			line = appendCount(line, last, times)
			last, times = append(last[:0], file...), 0
		}
		times++
	}
	out.Emit(word, appendCount(line, last, times))
	return nil
}

// appendCount appends nothing for a count of 0.
func appendCount(line, file []byte, times int) []byte {
	if times == 0 {
		return line
	}
	if len(line) > 0 {
		line = append(line, '\t')
	}
	return fmt.Appendf(line, "%s:%d", file, times)
}
