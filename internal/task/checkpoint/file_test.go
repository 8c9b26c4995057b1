package checkpoint

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

func someCheckpoint() *taskproc.CheckpointBody {
	return &taskproc.CheckpointBody{
		JobId: "job_1_0001", Task: 3, Kind: taskproc.Kind_REDUCE,
		Counters: []*taskproc.Counter{{Group: "g", Name: "n", Value: -1}},
		Nodes: []*taskproc.NodeState{{
			Stage: 1, Node: 4,
			Pieces:    []*taskproc.Piece{{Output: "part", Path: "file:///o/a", Length: 10, Checksum: 11}},
			Pending:   []*taskproc.PendingOutput{{Output: "part", Data: []byte("rest")}},
			UserState: []byte{0, 1},
			Remaining: &taskproc.Range{Start: &taskproc.Position{Offset: 7}, End: &taskproc.Position{Offset: 9, Skip: 1}},
			Fetched:   []*taskproc.Fetched{{Edge: 1, Nodes: []byte{5}}},
			Merge:     []*taskproc.MergeInput{{Path: "/d/a", Offset: 3, Length: 90, Tagged: true, BlockOffset: 24, BlockRecord: 2}},
			Published: []*taskproc.MapOutput{{Edge: 1, Path: "/d/b", IndexChecksum: 5}},
			Live:      []*taskproc.LiveInput{{Edge: 2, Finished: []int32{0, 3}}},
		}, {Stage: 2, Finished: true}},
	}
}

// endless is a source whose files cannot be read before the end of the context.
type endless struct{ cancel func() }

func (s endless) Open(ctx context.Context, _ string, _, _ int64) (io.ReadCloser, error) {
	s.cancel()
	return nil, ctx.Err()
}

// TestEndOfContextDoesNotBlameTheCheckpoint ends an attempt while it reads its checkpoint.
func TestEndOfContextDoesNotBlameTheCheckpoint(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := FileRef{Path: "/c", Bytes: 10}.Read(ctx, endless{cancel}, RetryPolicy{})
	if !errors.Is(err, context.Canceled) || IsUnusable(err) {
		t.Errorf("%v, unusable: %v", err, IsUnusable(err))
	}
}

func TestCheckpointRoundTrip(t *testing.T) {
	encoded, err := Encode(someCheckpoint())
	must.Do(t, err)
	got, err := Decode(encoded)
	must.Do(t, err)
	if !proto.Equal(got, someCheckpoint()) {
		t.Errorf("got %v", got)
	}
}

func TestCheckpointDamage(t *testing.T) {
	encoded, err := Encode(someCheckpoint())
	must.Do(t, err)
	for i := range encoded {
		if _, err := Decode(encoded[:i]); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("cut at %d: %v", i, err)
		}
		broken := append([]byte(nil), encoded...)
		broken[i] ^= 0x40
		if _, err := Decode(broken); err == nil {
			t.Errorf("bit flipped at %d: accepted", i)
		}
	}
}

func TestCheckpointOfAnotherVersion(t *testing.T) {
	encoded, err := Encode(someCheckpoint())
	must.Do(t, err)
	encoded[len(file.Magic)] = 1
	if _, err := Decode(encoded); err == nil || !strings.Contains(err.Error(), "version 1") {
		t.Errorf("error %v does not name the version", err)
	}
}

func FuzzDecode(f *testing.F) {
	encoded, err := Encode(someCheckpoint())
	must.Do(f, err)
	f.Add(encoded)
	f.Fuzz(func(t *testing.T, b []byte) {
		body, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Encode(body)
		must.Do(t, err)
		if _, err := Decode(again); err != nil {
			t.Fatal(err)
		}
	})
}
