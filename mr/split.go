package mr

import (
	"github.com/hammr/hammr/internal/format/splits"
	"github.com/hammr/hammr/internal/taskproc"
)

// Split is the part of an input that one map task reads: parts of files in order, or
// whatever a custom input defines.
//
// Positions count through the parts as if they were one file that begins at the first part's
// Start. A custom input whose Positions are plain offsets needs one part, from its first
// offset to its last.
type Split struct {
	Parts  []Part   // at least one
	Hosts  []string // machines that hold most of it, best first; may be empty
	Custom []byte   // what else Open needs; may be nil

	unlocated bool // the engine locates it, once the job is accepted
	whole     bool // no part can be read without all that precedes it

	// Range is what an attempt reads. Splits leaves it empty. The engine sets it before
	// Open, to the whole split or to the rest of it.
	Range Range
}

// Part is a part of a file.
type Part struct {
	Path     string // full name; "" for an input without files
	Start    int64  // bytes
	Length   int64  // bytes
	FileSize int64  // bytes
}

// Whole is the range of all records of the split.
func (s Split) Whole() Range { return splits.Range(s.message()) }

// follows reports whether p continues the file of before, directly where before ends.
func (p Part) follows(before Part) bool {
	return p.Path == before.Path && p.Start > before.Start && p.Start == before.Start+before.Length
}

// message is the split as the engine transports it; its files have no numbers yet.
func (s Split) message() *taskproc.Split {
	m := &taskproc.Split{Hosts: s.Hosts, Custom: s.Custom, Unlocated: s.unlocated, Unsplittable: s.whole}
	for _, p := range s.Parts {
		m.Parts = append(m.Parts, &taskproc.Split_Part{
			Path: p.Path, Start: p.Start, Length: p.Length, FileSize: p.FileSize,
		})
	}
	return m
}

// splitOf converts a message to a split.
func splitOf(m *taskproc.Split, work Range) Split {
	s := Split{Hosts: m.Hosts, Custom: m.Custom, Range: work, unlocated: m.Unlocated, whole: m.Unsplittable}
	for _, p := range m.Parts {
		s.Parts = append(s.Parts, Part{p.Path, p.Start, p.Length, p.FileSize})
	}
	return s
}

func splitsOf(messages []*taskproc.Split) []Split {
	all := make([]Split, len(messages))
	for i, m := range messages {
		all[i] = splitOf(m, Range{})
	}
	return all
}

// numberer numbers the files of a job's input. Values of equal keys are ordered by these
// numbers. A part that does not follow the part before it begins a new file.
type numberer struct {
	files int32
	last  Part
}

func (n *numberer) number(s Split) *taskproc.Split {
	m := s.message()
	for i, p := range s.Parts {
		if n.files == 0 || !p.follows(n.last) {
			n.files++
		}
		n.last = p
		m.Parts[i].Ordinal = n.files - 1
	}
	return m
}
