// Package teravalidate checks that the rows of a directory are sorted, within each file and
// from file to file, and adds up their checksums. It reports like Hadoop's TeraValidate: a
// line "checksum", and a line "error" for each place where the order is broken.
//
//	checksum	1f9ffe645ec
//	error	misorder in part-r-00000 between 95 e0 e4 … and 45 97 93 …
//
//	hammr run teravalidate sorted report
//
// As with Hadoop, the exit code is 0 in both cases: only a report without errors means that
// the rows are sorted.
package teravalidate

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/crc32"
	"iter"

	"github.com/hammr/hammr/examples/benchmarks/teragen"
	"github.com/hammr/hammr/mr"
)

// place is the key of a finding: checksums come before stretches, and stretches are ordered
// by file and offset.
type place = mr.Triple[kind, string, int64]

type kind uint8

const (
	sums kind = iota
	stretches
)

// finding is a checksum, which is in Second, or a stretch. A stretch has its file, its first
// key and its last key.
type finding = mr.Triple[string, string, string]

// scan is the mapper. It finds the stretches of rows that are sorted, and adds up the
// checksums of the rows. A file in order is one stretch, or one for each split. scan is
// mr.Stateful, because Close emits the last stretch and the sum.
type scan struct {
	now struct { // state that a checkpoint saves
		Sum   checksum
		File  string
		Start int64  // offset of the stretch's first row
		First []byte // its first key
		Last  []byte // its last key so far
	}
}

// Map implements mr.Mapper.
func (s *scan) Map(t *mr.Task, _ int64, row []byte, out mr.Emitter[place, finding]) error {
	key, now := row[:teragen.KeySize], &s.now
	file, offset := t.Input()
	if file != now.File || bytes.Compare(key, now.Last) < 0 {
		s.endStretch(out)
		now.File, now.Start = file, offset
		now.First = append(now.First[:0], key...)
	}
	now.Last = append(now.Last[:0], key...)
	now.Sum.add(crc32.ChecksumIEEE(row))
	return nil
}

// Close implements mr.Closer.
func (s *scan) Close(_ *mr.Task, out mr.Emitter[place, finding]) error {
	s.endStretch(out)
	out.Emit(place{First: sums}, finding{Second: s.now.Sum.String()})
	return nil
}

// endStretch emits the current stretch, if there is one.
func (s *scan) endStretch(out mr.Emitter[place, finding]) {
	if now := &s.now; len(now.First) > 0 {
		out.Emit(place{First: stretches, Second: now.File, Third: now.Start},
			finding{First: now.File, Second: string(now.First), Third: string(now.Last)})
	}
}

// Save implements mr.Stateful.
func (s *scan) Save() ([]byte, error) { return json.Marshal(s.now) }

// Load implements mr.Stateful.
func (s *scan) Load(state []byte) error { return json.Unmarshal(state, &s.now) }

// Job checks rows of 100 bytes whose keys are their first 10 bytes. The division of its
// input into splits makes no difference to the report.
var Job = mr.New("teravalidate",
	mr.FixedLength(teragen.RowSize),
	&scan{},
	mr.ReduceFunc(func(_ *mr.Task, p place, found iter.Seq[finding], out mr.Emitter[string, string]) error {
		if p.First == sums {
			out.Emit("checksum", total(found))
			return nil
		}
		for disorder := range disorders(found) {
			out.Emit("error", disorder)
		}
		return nil
	}),
	mr.TextOutput[string, string](),
).GroupFirst().Reduces(1)

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "teravalidate",
		Summary: "Checking results of terasort",
		Usage:   "<out-dir> <report-dir>",
		Jobs:    []mr.Runnable{Job},
		Run: func(ctx context.Context, d *mr.Driver) error {
			if len(d.Args) != 2 {
				return mr.ErrUsage
			}
			return d.Run(ctx, Job, mr.JobRun{In: d.Args[:1], Out: d.Args[1]})
		},
	}
}
