package tasknode

import (
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

func TestTimeAndMemoryAreNotProgress(t *testing.T) {
	with := func(id counter.ID, value int64) *taskproc.Progress {
		return &taskproc.Progress{Fraction: 0.5, Counters: []*taskproc.Counter{{Group: id.Group, Name: id.Name, Value: value}}}
	}
	if progressMark(with(counter.CPUTimeMillis, 1)) != progressMark(with(counter.CPUTimeMillis, 2)) {
		t.Error("time that passes counts as progress")
	}
	if progressMark(with(counter.MapInputRecords, 1)) == progressMark(with(counter.MapInputRecords, 2)) {
		t.Error("records do not count as progress")
	}
	status := &taskproc.Progress{Fraction: 0.5, Status: "a"}
	if progressMark(&taskproc.Progress{Activity: 1}) == progressMark(&taskproc.Progress{Activity: 2}) {
		t.Error("a sign of life does not show")
	}
	a, b := &taskproc.Counter{Group: "g", Name: "a", Value: 1}, &taskproc.Counter{Group: "g", Name: "b", Value: 2}
	if progressMark(&taskproc.Progress{Counters: []*taskproc.Counter{a, b}}) != progressMark(&taskproc.Progress{Counters: []*taskproc.Counter{b, a}}) {
		t.Error("the order of the counters shows")
	}
	if progressMark(status) == progressMark(&taskproc.Progress{Fraction: 0.5, Status: "b"}) {
		t.Error("status does not count as progress")
	}
}
