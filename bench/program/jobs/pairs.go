package main

import (
	"bytes"
	"fmt"

	"github.com/hammr/hammr/mr"
)

// pairs writes each different pair of user and page of a log once.
var pairs = mr.New("pairs",
	mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, nothing]) error {
		_, rest, _ := bytes.Cut(line, []byte("\t"))
		end := bytes.LastIndexByte(rest, '\t')
		if end < 0 {
			return fmt.Errorf("line %q has no user and page", line)
		}
		out.Emit(rest[:end], nothing{})
		return nil
	}),
	mr.First[[]byte, nothing](),
	mr.TextOutput[[]byte, nothing](),
).Combine(mr.First[[]byte, nothing]())
