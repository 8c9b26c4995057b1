package masterlink

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/wire"
	"google.golang.org/protobuf/proto"
)

// TestBatchesHaveEveryReportInOrder joins reports of several sizes.
func TestBatchesHaveEveryReportInOrder(t *testing.T) {
	var reports []*wire.Report
	for _, n := range []int{10, 20, 30, 200, 10, 90, 10} {
		reports = append(reports, &wire.Report{AttemptId: strings.Repeat("a", n)})
	}
	var sizes []int
	var got []*wire.Report
	for _, m := range batches(reports, 100) {
		joined := []*wire.Report{m}
		if b := m.GetBatch(); b != nil {
			joined = b.Reports
		}
		sizes = append(sizes, len(joined))
		got = append(got, joined...)
		if len(joined) > 1 && proto.Size(m) > 120 {
			t.Errorf("%d reports have %d bytes", len(joined), proto.Size(m))
		}
	}
	if len(got) != len(reports) || len(sizes) != 5 {
		t.Errorf("%d reports in batches of %v", len(got), sizes)
	}
	for i := range got {
		if got[i] != reports[i] {
			t.Errorf("report %d has moved", i)
		}
	}
}
