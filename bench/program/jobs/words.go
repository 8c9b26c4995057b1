package main

import (
	"bytes"

	"github.com/hammr/hammr/mr"
)

// naive is wordcount without regard to speed: with string keys, bytes.Fields, and a copy of each
// word.
var naive = mr.New("naive",
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

// plain is wordcount without a combiner: every word passes through the sort and the shuffle.
var plain = mr.New("plain",
	mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
		for word := range mr.Words(line) {
			out.Emit(word, 1)
		}
		return nil
	}),
	mr.Sum[[]byte, int64](),
	mr.TextOutput[[]byte, int64](),
)
