package main

import (
	"bytes"
	"fmt"

	"github.com/hammr/hammr/mr"
)

// length is the number of pages in the list of topPages.
const length = 100

// topPages lists the pages with the most lines in a log, the most frequent first, with their
// counts.
var topPages = mr.Define("toppages", nothing{}, func(g *mr.Graph, _ nothing) {
	views := mr.Read(g, "views", mr.TextLines(), mr.MapFunc(view))
	counts := mr.Group(g, "counts", mr.Sum[[]byte, int64](), views.Shuffle().Combine(mr.Sum[[]byte, int64]()))
	mr.Write(counts.Top(length, mr.ByValue), mr.TextOutput[[]byte, int64]())
})

func view(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
	_, rest, _ := bytes.Cut(line, []byte("\t"))
	_, rest, _ = bytes.Cut(rest, []byte("\t"))
	page, _, found := bytes.Cut(rest, []byte("\t"))
	if !found {
		return fmt.Errorf("line %q has no page", line)
	}
	out.Emit(page, 1)
	return nil
}
