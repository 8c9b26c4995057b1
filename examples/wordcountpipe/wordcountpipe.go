// Package wordcountpipe counts words as wordcount does, in a graph of three
// stages: each split is cut into words by one Node and combined by another, which
// share a process, so that words pass between them through memory.
//
//	tokenise ══shm══> combine ──file──> sum
package wordcountpipe

import "github.com/hammr/hammr/mr"

// Job writes the same bytes as wordcount.
var Job = mr.Define("wordcountpipe", struct{}{}, func(g *mr.Graph, _ struct{}) {
	tokens := mr.Read(g, "tokenise", mr.TextLines(), mr.MapFunc(tokenise))
	combined := mr.Each(g, "combine", mr.IdentityMapper[[]byte, int64](), tokens.Pipe())
	sum := mr.Group(g, "sum", mr.Sum[[]byte, int64](), combined.Shuffle().Combine(mr.Sum[[]byte, int64]()))
	mr.Write(sum, mr.TextOutput[[]byte, int64]())
})

func tokenise(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
	for word := range mr.Words(line) {
		out.Emit(word, 1)
	}
	return nil
}

// Program is the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "wordcountpipe",
		Summary: "A program that counts words in a graph whose first two stages share processes.",
		Jobs:    []mr.Runnable{Job},
	}
}
