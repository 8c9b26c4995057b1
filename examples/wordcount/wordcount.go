// Package wordcount counts words: the first program of every MapReduce system.
//
//	the cat          cat	1
//	the dog   ──>    dog	1
//	                 the	2
//
//	hammr run wordcount in out
package wordcount

import "github.com/hammr/hammr/mr"

// Job counts how often each word occurs. The combiner is the reducer: it adds up the counts
// of one map before they are sent to the reduces.
var Job = mr.New("wordcount",
	mr.TextLines(),
	mr.MapFunc(Tokenise),
	mr.Sum[[]byte, int64](),
	mr.TextOutput[[]byte, int64](),
).Combine(mr.Sum[[]byte, int64]())

// Tokenise emits each word of a line with the count 1. Words are separated by spaces, tabs,
// newlines, carriage returns and form feeds, as in Hadoop's WordCount.
func Tokenise(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
	for word := range mr.Words(line) {
		out.Emit(word, 1)
	}
	return nil
}

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "wordcount",
		Summary: "A map/reduce program that counts the words in the input files.",
		Jobs:    []mr.Runnable{Job},
	}
}
