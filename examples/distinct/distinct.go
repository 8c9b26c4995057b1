// Package distinct writes each different line of its input once.
//
//	b            a
//	a     ──>    b
//	b
//
//	hammr run distinct in out
package distinct

import "github.com/hammr/hammr/mr"

type nothing = struct{}

// Job writes each line once, sorted within each part. LF, CR LF and CR end a line, and a byte
// order mark at the start of a file is no part of it. The combiner drops what a map has seen
// before.
var Job = mr.New("distinct",
	mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, nothing]) error {
		out.Emit(line, nothing{})
		return nil
	}),
	mr.First[[]byte, nothing](),
	mr.TextOutput[[]byte, nothing](),
).Combine(mr.First[[]byte, nothing]())

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "distinct",
		Summary: "A map/reduce program that writes each different line of the input files once.",
		Jobs:    []mr.Runnable{Job},
	}
}
