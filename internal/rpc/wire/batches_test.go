package wire

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

func TestBatchesHaveEveryMessageInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 100).Draw(t, "limit")
		var reports []*Report
		for _, n := range rapid.SliceOf(rapid.IntRange(0, 120)).Draw(t, "lengths") {
			reports = append(reports, &Report{AttemptId: strings.Repeat("a", n)})
		}
		all := Batches(reports, limit)
		if !slices.Equal(slices.Concat(all...), reports) {
			t.Fatalf("%d messages became %v", len(reports), all)
		}
		for i, batch := range all {
			bytes := size(batch)
			if len(batch) == 0 || len(batch) > 1 && bytes > limit {
				t.Fatalf("batch of %d messages and %d bytes, limit %d", len(batch), bytes, limit)
			}
			if i > 0 && size(all[i-1])+proto.Size(batch[0]) <= limit {
				t.Fatalf("the first message of batch %d fits into batch %d", i, i-1)
			}
		}
	})
}

func size(batch []*Report) (bytes int) {
	for _, r := range batch {
		bytes += proto.Size(r)
	}
	return bytes
}

func TestReportsAreJoinedWithTheirMachine(t *testing.T) {
	var reports []*Report
	for _, n := range []int{10, 20, 30, 200, 10, 90, 10} {
		reports = append(reports, &Report{Machine: "n", AttemptId: strings.Repeat("a", n)})
	}
	var sizes []int
	var got []*Report
	for _, m := range JoinReports(reports, 120) {
		joined := []*Report{m}
		if b := m.GetBatch(); b != nil {
			joined = b.Reports
		}
		if m.Machine != "n" {
			t.Errorf("%d reports of machine %q", len(joined), m.Machine)
		}
		sizes = append(sizes, len(joined))
		got = append(got, joined...)
	}
	if !slices.Equal(got, reports) || !slices.Equal(sizes, []int{3, 1, 2, 1}) {
		t.Errorf("%d reports in batches of %v", len(got), sizes)
	}
}
