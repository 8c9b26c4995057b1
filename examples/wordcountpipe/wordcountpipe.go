// Package wordcountpipe counts words as wordcount does, in a graph of three stages. Each
// split has a Node that finds the words and another that combines them. The two share a
// process, so words pass between them through memory.
//
//	tokenise ══shm══> combine ──file──> sum
//
//	hammr run wordcountpipe in out
package wordcountpipe

import (
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/mr"
)

// Job writes the same bytes as wordcount.
var Job = mr.Define("wordcountpipe", struct{}{}, func(g *mr.Graph, _ struct{}) {
	tokens := mr.Read(g, "tokenise", mr.TextLines(), mr.MapFunc(wordcount.Tokenise))
	combined := mr.Each(g, "combine", mr.IdentityMapper[[]byte, int64](), tokens.Pipe())
	sum := mr.Group(g, "sum", mr.Sum[[]byte, int64](), combined.Shuffle().Combine(mr.Sum[[]byte, int64]()))
	mr.Write(sum, mr.TextOutput[[]byte, int64]())
})

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "wordcountpipe",
		Summary: "A program that counts words in a graph whose first two stages share processes.",
		Jobs:    []mr.Runnable{Job},
	}
}
