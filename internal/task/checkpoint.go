package task

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// A checkpoint file is 8 bytes of magic, 4 of version, 4 of body length (both
// little-endian), a CheckpointBody, and the xxhash64 of all that in 8 bytes.
// docs/formats/checkpoint.md has the bytes.
const (
	checkpointMagic   = "HAMMRCKP"
	checkpointVersion = 1
	checkpointHead    = len(checkpointMagic) + 4 + 4
	checkpointTail    = 8
	maxCheckpoint     = 1 << 30 // bytes
)

// beginCheckpoint is what the Node has done so far, with the state that the user's
// code keeps: that of the last pause while save is nil, because the user's code has
// not been called since. It closes the output.
func (n *Node) beginCheckpoint(save func() ([]byte, error)) (body *taskproc.CheckpointBody, err error) {
	body = &taskproc.CheckpointBody{JobId: n.Start.JobId, Task: n.Start.Task, Kind: n.Start.Kind, UserState: n.UserState}
	if save != nil {
		if body.UserState, err = save(); err != nil {
			return nil, fmt.Errorf("saving the state of the user's code: %w", err)
		}
	}
	if body.Pieces, body.Pending, err = n.files.close(true); err != nil {
		return nil, err
	}
	body.Pending = append(body.Pending, n.notTaken()...)
	return body, nil
}

// writeCheckpoint writes body into the attempt's directory. What keeps it from
// that is an *unwrittenError.
func (n *Node) writeCheckpoint(body *taskproc.CheckpointBody) (*taskproc.FromTask, error) {
	body.Counters = counterMessages(n.Counters)
	encoded, err := EncodeCheckpoint(body)
	if err == nil {
		err = failpoint.Hit(failpoint.TaskCheckpoint)
	}
	if err != nil {
		return nil, &unwrittenError{body, err}
	}
	path := n.attemptFile("checkpoint")
	if err := writeFile(n.Attempt, path, encoded); err != nil {
		return nil, &unwrittenError{body, err}
	}
	return &taskproc.FromTask{Message: &taskproc.FromTask_Paused{Paused: &taskproc.Paused{
		Checkpoint: &taskproc.Checkpoint{
			Path: path, Bytes: int64(len(encoded)), Checksum: xxhash.Sum64(encoded),
			Attempt: n.Start.AttemptId, JobId: n.Start.JobId, Task: n.Start.Task,
			Copy: n.copyCheckpoint(body),
		},
	}}}, nil
}

func writeFile(a *Attempt, path string, data []byte) error {
	w, err := a.Local.Create(a.ctx, path, storage.CreateOptions{})
	if err != nil {
		return err
	}
	return writeAll(w, data)
}

// writeAll ends a new file that is to hold data; after an error there is none.
func writeAll(w storage.Writer, data []byte) error {
	_, err := w.Write(data)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return nil
}

// EncodeCheckpoint is body as a checkpoint file.
func EncodeCheckpoint(body *taskproc.CheckpointBody) ([]byte, error) {
	b := append(make([]byte, 0, 1024), checkpointMagic...)
	b = binary.LittleEndian.AppendUint32(b, checkpointVersion)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, body)
	if err != nil {
		return nil, fmt.Errorf("checkpoint encoding: %w", err)
	}
	if len(b) > maxCheckpoint {
		return nil, fmt.Errorf("checkpoint of %d bytes: more than %d", len(b), maxCheckpoint)
	}
	binary.LittleEndian.PutUint32(b[len(checkpointMagic)+4:], uint32(len(b)-checkpointHead))
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b)), nil
}

// DecodeCheckpoint verifies and reads a checkpoint file. What does not verify
// wraps storage.ErrCorrupt.
func DecodeCheckpoint(b []byte) (*taskproc.CheckpointBody, error) {
	if len(b) < checkpointHead+checkpointTail || string(b[:len(checkpointMagic)]) != checkpointMagic {
		return nil, fmt.Errorf("%w: no checkpoint", storage.ErrCorrupt)
	}
	if v := binary.LittleEndian.Uint32(b[len(checkpointMagic):]); v != checkpointVersion {
		return nil, fmt.Errorf("checkpoint of version %d: this binary reads version %d", v, checkpointVersion)
	}
	length := int(binary.LittleEndian.Uint32(b[len(checkpointMagic)+4:]))
	if length != len(b)-checkpointHead-checkpointTail {
		return nil, fmt.Errorf("%w: checkpoint body of %d bytes in a file of %d", storage.ErrCorrupt, length, len(b))
	}
	content, sum := b[:len(b)-checkpointTail], binary.LittleEndian.Uint64(b[len(b)-checkpointTail:])
	if xxhash.Sum64(content) != sum {
		return nil, fmt.Errorf("%w: checkpoint checksum", storage.ErrCorrupt)
	}
	body := new(taskproc.CheckpointBody)
	if err := proto.Unmarshal(content[checkpointHead:], body); err != nil {
		return nil, fmt.Errorf("%w: checkpoint body: %v", storage.ErrCorrupt, err)
	}
	return body, nil
}

// checkpoint records a map that ends before its range does.
func (m *Map) checkpoint(published []*taskproc.MapOutput) (*taskproc.FromTask, error) {
	body, err := m.beginCheckpoint(m.save)
	if err != nil {
		return nil, err
	}
	body.Remaining = taskproc.FromRange(dag.Range{Start: m.processed.End, End: m.work.End})
	body.Published = published
	return m.writeCheckpoint(body)
}

// checkpoint records a reduce between two groups, or before the first. The files
// that hold what is left to be merged stay.
func (r *Reduce) checkpoint() (*taskproc.FromTask, error) {
	body, err := r.beginCheckpoint(r.save)
	if err != nil {
		return nil, err
	}
	if r.groups != nil {
		r.groups.Boundary()
		if err := r.groups.Err(); err != nil {
			return nil, err
		}
	}
	state, err := r.intake.State(r.ctx)
	if err != nil {
		return nil, &unwrittenError{body, err}
	}
	r.countMerges()
	body.Fetched = r.fetched
	for _, s := range state {
		body.Merge = append(body.Merge, mergeInputMessage(s))
	}
	last, err := r.writeCheckpoint(body)
	if err != nil {
		return nil, err
	}
	return last, r.intake.Detach()
}

func mergeInputMessage(s shuffle.MergeInputState) *taskproc.MergeInput {
	return &taskproc.MergeInput{
		Path: s.Path, Offset: s.Run.Offset, Length: s.Run.Length, RawLength: s.Run.RawLength,
		Records: s.Run.Records, Checksum: s.Run.Checksum, Tagged: s.Run.Tagged,
		BlockOffset: s.From.BlockOffset, BlockRecord: s.From.Record,
		Input: s.Ordinal.Input, Start: taskproc.FromPosition(s.Ordinal.Start), Sequence: s.Sequence,
	}
}

func intakeState(inputs []*taskproc.MergeInput) []shuffle.MergeInputState {
	var state []shuffle.MergeInputState
	for _, m := range inputs {
		state = append(state, shuffle.MergeInputState{
			Path: m.Path, Sequence: m.Sequence,
			Ordinal: shuffle.Ordinal{Input: m.Input, Start: taskproc.ToPosition(m.Start)},
			Run: shuffle.Run{
				Offset: m.Offset, Length: m.Length, RawLength: m.RawLength,
				Records: m.Records, Checksum: m.Checksum, Tagged: m.Tagged,
			},
			From: shuffle.RunPosition{BlockOffset: m.BlockOffset, Record: m.BlockRecord},
		})
	}
	return state
}
