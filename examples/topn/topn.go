// Package topn lists the most frequent words: it counts the words, and keeps the first of
// the counts in order.
//
//	the cat the dog   ──>   the	2
//	                        cat	1
//
//	hammr run topn 2 in out
package topn

import (
	"context"

	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/mr"
)

// Config sets the number of words to list.
type Config struct{ N int }

// Job writes the first N words by count, the greatest first, then by their bytes.
var Job = mr.Define("topn", Config{N: 10}, func(g *mr.Graph, c Config) {
	add := mr.Sum[[]byte, int64]()
	words := mr.Read(g, "words", mr.TextLines(), mr.MapFunc(wordcount.Tokenise))
	counts := mr.Group(g, "counts", add, words.Shuffle().Combine(add))
	mr.Write(counts.Top(c.N, mr.ByValue), mr.TextOutput[[]byte, int64]())
})

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "topn",
		Summary: "A map/reduce program that lists the n most frequent words of the input files.",
		Usage:   "<n> <in> [<in>...] <out>",
		Jobs:    []mr.Runnable{Job},
		Run:     run,
	}
}

// run takes the number of words from the first argument.
func run(ctx context.Context, d *mr.Driver) error {
	if len(d.Args) < 3 {
		return mr.ErrUsage
	}
	n, err := arguments.Count("n", d.Args[0])
	if err != nil {
		return err
	}
	last := len(d.Args) - 1
	return d.Run(ctx, Job, mr.JobRun{In: d.Args[1:last], Out: d.Args[last], Config: Config{N: n}})
}
