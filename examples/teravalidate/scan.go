package teravalidate

import (
	"bytes"
	"encoding/json"
	"hash/crc32"

	"github.com/hammr/hammr/examples/teragen"
	"github.com/hammr/hammr/mr"
)

// scan is the mapper: it finds the stretches of rows that are sorted, and adds
// up what it reads. A file in order is one stretch, or one a split.
type scan struct {
	now struct { // what a pause has to keep
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
