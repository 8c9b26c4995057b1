package hdfs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/storage/hdfs/pipeline"
)

// TestSuspects adds failures over time. A suspect is listed until its last failure is too old.
func TestSuspects(t *testing.T) {
	node := func(uuid string) *pipeline.DatanodeInfo {
		return &pipeline.DatanodeInfo{Id: &pipeline.DatanodeID{Uuid: proto.String(uuid)}}
	}
	s := suspects{age: time.Minute}
	start := time.Unix(1_000_000, 0)
	for _, step := range []struct {
		at     time.Duration
		failed []*pipeline.DatanodeInfo
		clear  bool
		want   string
	}{
		{at: 0, want: ""},
		{at: 0, failed: []*pipeline.DatanodeInfo{node("a"), node("b")}, want: "a b"},
		{at: 30 * time.Second, failed: []*pipeline.DatanodeInfo{node("a")}, want: "a b"},
		{at: time.Minute, want: "a b"},
		{at: 61 * time.Second, want: "a"},
		{at: 91 * time.Second, want: ""},
		{at: 91 * time.Second, failed: []*pipeline.DatanodeInfo{node("c")}, want: "c"},
		{at: 92 * time.Second, clear: true, want: ""},
	} {
		now := start.Add(step.at)
		s.add(step.failed, now)
		if step.clear {
			s.clear()
		}
		var got []string
		for _, n := range s.list(now) {
			got = append(got, n.GetId().GetUuid())
		}
		slices.Sort(got)
		if strings.Join(got, " ") != step.want {
			t.Errorf("after %v: suspects %v, expected %q", step.at, got, step.want)
		}
	}
}

// TestWritersFieldsAreThere fails if the module has renamed a field that writing needs.
func TestWritersFieldsAreThere(t *testing.T) {
	if len(connectionField) == 0 || len(fileIDField) == 0 {
		t.Errorf("paths of the module's fields: %v, %v; see module_internals.go", connectionField, fileIDField)
	}
}
