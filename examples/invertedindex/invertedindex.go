// Package invertedindex lists for each word the files in which it occurs, with the number of
// times. It writes full names of files, which are shortened here.
//
//	a.txt: the cat                 cat	a.txt:1
//	b.txt: the dog the    ──>      dog	b.txt:1
//	                               the	a.txt:1	b.txt:2
//
//	hammr run invertedindex a.txt b.txt out
package invertedindex

import (
	"fmt"
	"iter"

	"github.com/hammr/hammr/mr"
)

// posting is a word in a file. Its first component, the word, makes the groups;
// its second puts the files of a word in order.
type posting = mr.Pair[[]byte, string]

// count is a file and the number of times that a word occurs in it.
type count = mr.Pair[string, int64]

// Job writes a line for each word: the word, then file:count for each file, in
// order of the files' full names, with tabs between.
var Job = mr.New("invertedindex",
	mr.TextLines(),
	mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out mr.Emitter[posting, count]) error {
		file, _ := t.Input()
		for word := range mr.Words(line) {
			out.Emit(posting{First: word, Second: file}, count{First: file, Second: 1})
		}
		return nil
	}),
	mr.ReduceFunc(list),
	mr.TextOutput[[]byte, []byte](),
).Combine(mr.Fold[posting](func(sum, c count) count {
	sum.Second += c.Second
	return sum
})).GroupFirst()

// list is the reduce function: it adds up the counts of each file.
func list(_ *mr.Task, p posting, counts iter.Seq[count], out mr.Emitter[[]byte, []byte]) error {
	var line []byte
	var sum count
	for c := range counts {
		if c.First != sum.First {
			line = appendCount(line, sum)
			sum = count{First: c.First}
		}
		sum.Second += c.Second
	}
	out.Emit(p.First, appendCount(line, sum))
	return nil
}

// appendCount appends a file with its complete count. It appends nothing for a count of 0.
func appendCount(line []byte, c count) []byte {
	if c.Second == 0 {
		return line
	}
	if len(line) > 0 {
		line = append(line, '\t')
	}
	return fmt.Appendf(line, "%s:%d", c.First, c.Second)
}

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "invertedindex",
		Summary: "A map/reduce program that lists the files that each word occurs in, with counts.",
		Jobs:    []mr.Runnable{Job},
	}
}
