package taskproc

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
)

// EmptySet returns the set of empty partitions of an output, from the stored bytes of each:
// bit p%8 of byte p/8 is set if partition p is empty. It returns nil, which means unknown, if
// no partition is empty or if the set is longer than maxEmptySet.
//
// Without the set a reduce fetches the index of the output to learn that its own partition is
// empty. The index has about 100 times the size of the set.
func EmptySet(partitionBytes []int64) []byte {
	if (len(partitionBytes)+7)/8 > maxEmptySet {
		return nil
	}
	var set []byte
	for p, n := range partitionBytes {
		if n == 0 {
			if set == nil {
				set = make([]byte, (len(partitionBytes)+7)/8)
			}
			set[p/8] |= 1 << (p % 8)
		}
	}
	return set
}

// maxEmptySet bounds a set of empty partitions, in bytes. Every machine and every reduce has
// the sets of all outputs.
const maxEmptySet = 1 << 10

// HasNone reports whether the output is known to have no records in a partition.
func (o *MapOutput) HasNone(partition int) bool {
	return partition/8 < len(o.Empty) && o.Empty[partition/8]&(1<<(partition%8)) != 0
}

// attemptMark stands for the attempt's id in the path of a PackedOutputs_Place. No path
// contains it.
const attemptMark = "\x00"

// packOutputs encodes PackedOutputs with these outputs and revoked attempts. It leaves out
// edge and bytes of the outputs.
func packOutputs(outputs []*MapOutput, revoked []string) []byte {
	type place struct {
		address, path string
		stored        bool
	}
	p := &PackedOutputs{AttemptPrefix: attemptPrefix(outputs, revoked)}
	places := make(map[place]int32)
	for _, o := range outputs {
		at := place{o.Address, strings.Replace(o.Path, o.Attempt, attemptMark, 1), o.Stored}
		number, known := places[at]
		if !known {
			number = int32(len(p.Places))
			places[at], p.Places = number, append(p.Places, &PackedOutputs_Place{Address: at.address, Path: at.path, Stored: at.stored})
		}
		p.Outputs = append(p.Outputs, &PackedOutputs_Output{
			Place: number, Attempt: o.Attempt[len(p.AttemptPrefix):], Task: o.Task, Ordinal: o.Ordinal,
			StartOffset: o.Start.GetOffset(), StartSkip: o.Start.GetSkip(), IndexChecksum: o.IndexChecksum, Empty: o.Empty,
		})
	}
	for _, attempt := range revoked {
		p.Revoked = append(p.Revoked, attempt[len(p.AttemptPrefix):])
	}
	encoded, err := proto.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("taskproc: encoding of outputs: %v", err)) // only for text that is not UTF-8, which no message delivers
	}
	return encoded
}

// attemptPrefix returns the longest text with which all attempts begin, up to an underscore:
// a cut elsewhere could divide a rune.
func attemptPrefix(outputs []*MapOutput, revoked []string) string {
	prefix, first := "", true
	shorten := func(attempt string) {
		if first {
			prefix, first = attempt, false
		}
		for !strings.HasPrefix(attempt, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	for _, o := range outputs {
		shorten(o.Attempt)
	}
	for _, attempt := range revoked {
		shorten(attempt)
	}
	return prefix[:strings.LastIndexByte(prefix, '_')+1]
}

// UnpackOutputs decodes PackedOutputs. The outputs have the given edge.
func UnpackOutputs(edge int32, packed []byte) (outputs []*MapOutput, revoked []string, err error) {
	p := new(PackedOutputs)
	if err := proto.Unmarshal(packed, p); err != nil {
		return nil, nil, fmt.Errorf("taskproc: decoding of outputs: %w", err)
	}
	for _, o := range p.Outputs {
		if o.Place < 0 || int(o.Place) >= len(p.Places) {
			return nil, nil, fmt.Errorf("taskproc: output of attempt %q at place %d of %d", p.AttemptPrefix+o.Attempt, o.Place, len(p.Places))
		}
		at, attempt := p.Places[o.Place], p.AttemptPrefix+o.Attempt
		outputs = append(outputs, &MapOutput{
			Edge: edge, Task: o.Task, Attempt: attempt, Ordinal: o.Ordinal, Start: &Position{Offset: o.StartOffset, Skip: o.StartSkip},
			Address: at.Address, Path: strings.Replace(at.Path, attemptMark, attempt, 1), Stored: at.Stored,
			IndexChecksum: o.IndexChecksum, Empty: o.Empty,
		})
	}
	for _, attempt := range p.Revoked {
		revoked = append(revoked, p.AttemptPrefix+attempt)
	}
	return outputs, revoked, nil
}

// unpack moves what is packed into the other fields.
func (o *Outputs) unpack() error {
	if o == nil || len(o.Packed) == 0 {
		return nil
	}
	outputs, revoked, err := UnpackOutputs(o.Edge, o.Packed)
	o.Outputs, o.Revoked, o.Packed = append(o.Outputs, outputs...), append(o.Revoked, revoked...), nil
	return err
}
