package taskproc

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// testOutput returns the output of a Node, as a master describes it.
func testOutput(node int32, empty []byte) *MapOutput {
	attempt := fmt.Sprintf("attempt_1700000000000_0001_m_%06d_0", node)
	return &MapOutput{
		Edge: 3, Task: node, Attempt: attempt, Ordinal: node % 4, Start: &Position{Offset: int64(node) << 27}, IndexChecksum: uint64(node) * 0x9e3779b97f4a7c15,
		Address: fmt.Sprintf("machine%d:7345", node%100), Empty: empty,
		Path: fmt.Sprintf("/data%d/hammr/job_1700000000000_0001/%s/map.out", node%4, attempt),
	}
}

func TestPackedOutputsRoundTrip(t *testing.T) {
	outputs := []*MapOutput{
		testOutput(1, nil), testOutput(2, []byte{6}), testOutput(101, nil),
		{Edge: 3, Attempt: "é_1", Path: "/no/id", Stored: true, Start: new(Position)},
		{Edge: 3, Attempt: "è_1", Path: "/è_1/è_1", Start: &Position{Skip: 7}},
	}
	for n := range len(outputs) + 1 {
		got, revoked, err := UnpackOutputs(3, packOutputs(outputs[:n], []string{"attempt_2", "x"}[:n%3]))
		if err != nil || len(got) != n || len(revoked) != n%3 {
			t.Fatalf("%d outputs: got %v and %v, %v", n, got, revoked, err)
		}
		for i := range got {
			if !proto.Equal(got[i], outputs[i]) {
				t.Errorf("got %v, want %v", got[i], outputs[i])
			}
		}
	}
}

func TestPackedOutputsAtUnknownPlacesAreRefused(t *testing.T) {
	for _, place := range []int32{-1, 1} {
		packed, err := proto.Marshal(&PackedOutputs{Places: []*PackedOutputs_Place{{}}, Outputs: []*PackedOutputs_Output{{Place: place}}})
		must.Do(t, err)
		if _, _, err := UnpackOutputs(0, packed); err == nil {
			t.Errorf("place %d is accepted", place)
		}
	}
}

// TestOutputLogPartsAreTheWholeLog compares what readers learn from the parts of a log with
// what was added and revoked. Each reader reads at random times.
func TestOutputLogPartsAreTheWholeLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log OutputLog
		written := make(map[string]bool)
		readers := make([]map[string]bool, 3)
		next := make([]int, len(readers))
		for node := range int32(rapid.IntRange(1, 200).Draw(t, "outputs")) {
			o := testOutput(node, make([]byte, rapid.IntRange(0, 8<<10).Draw(t, "set")))
			log.Add(o)
			written[o.Attempt] = true
			if rapid.IntRange(0, 9).Draw(t, "revoke") == 0 {
				lost := rapid.SliceOf(rapid.SampledFrom(slices.Sorted(maps.Keys(written)))).Draw(t, "lost")
				log.Revoke(lost)
				for _, a := range lost {
					delete(written, a)
				}
			}
			for i := range readers {
				if rapid.IntRange(0, 9).Draw(t, "read") == 0 {
					next[i] = read(t, &log, next[i], &readers[i])
				}
			}
		}
		for i := range readers {
			next[i] = read(t, &log, next[i], &readers[i])
			if got, want := slices.Sorted(maps.Keys(readers[i])), slices.Sorted(maps.Keys(written)); !slices.Equal(got, want) {
				t.Fatalf("reader %d knows %v, want %v", i, got, want)
			}
		}
	})
}

// read adds to known what a reader learns that has the first entries.
func read(t *rapid.T, log *OutputLog, from int, known *map[string]bool) int {
	if *known == nil {
		*known = make(map[string]bool)
	}
	for _, part := range log.Since(from) {
		if part.From != from || len(part.Packed) > partBytes+16<<10 {
			t.Fatalf("part from %d to %d of %d bytes, want one from %d", part.From, part.Next, len(part.Packed), from)
		}
		outputs, revoked, err := UnpackOutputs(3, part.Packed)
		must.Do(t, err)
		for _, a := range revoked {
			delete(*known, a)
		}
		for _, o := range outputs {
			(*known)[o.Attempt] = true
		}
		from = part.Next
	}
	return from
}

// TestOutputLogEncodesOnce checks that all readers get the same bytes of a part, and that a
// large log has few bytes.
func TestOutputLogEncodesOnce(t *testing.T) {
	const outputs = 50_000
	var log OutputLog
	for node := range int32(outputs) {
		log.Add(testOutput(node, nil))
	}
	bytes := 0
	first, second := log.Since(0), log.Since(0)
	for i := range first {
		bytes += len(first[i].Packed)
		if &first[i].Packed[0] != &second[i].Packed[0] {
			t.Errorf("part %d is encoded for each reader", i)
		}
	}
	if each := bytes / outputs; each > 2*entryBytes {
		t.Errorf("%d bytes for each output", each)
	}
	if tail := log.Since(outputs - 1); len(tail) != 1 || tail[0].Next != outputs {
		t.Errorf("the last entry comes as %v", tail)
	}
}

func TestEmptySet(t *testing.T) {
	o := &MapOutput{Empty: EmptySet([]int64{5, 0, 3, 0, 1, 1, 1, 1, 0})}
	for p, empty := range []bool{false, true, false, true, false, false, false, false, true, false, false} {
		if o.HasNone(p) != empty {
			t.Errorf("partition %d: empty is %v", p, !empty)
		}
	}
	if set := EmptySet([]int64{1, 2}); set != nil {
		t.Errorf("the set of no partition is %v", set)
	}
	if set := EmptySet(make([]int64, 8*maxEmptySet+1)); set != nil {
		t.Errorf("a set of %d bytes", len(set))
	}
}
