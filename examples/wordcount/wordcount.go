// Package wordcount counts words: the first program that anybody writes.
package wordcount

import "github.com/hammr/hammr/mr"

// Job counts how often each word occurs. Words are what lies between spaces,
// tabs, newlines, carriage returns and form feeds, as in Hadoop's example.
var Job = mr.New("wordcount",
	mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
		for word := range mr.Words(line) {
			out.Emit(word, 1)
		}
		return nil
	}),
	mr.Sum[[]byte, int64](),
	mr.TextOutput[[]byte, int64](),
).Combine(mr.Sum[[]byte, int64]())

// Program is the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "wordcount",
		Summary: "A map/reduce program that counts the words in the input files.",
		Jobs:    []mr.Runnable{Job},
	}
}
