package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
)

// Encode writes a history, compressed. The last line contains the numbers of lines, so that a
// reader detects a truncated file.
func Encode(w io.Writer, j *Job) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return err
	}
	return errors.Join(encode(z, j), z.Close())
}

func encode(w io.Writer, j *Job) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	head, err := j.head()
	if err != nil {
		return err
	}
	if err := lines.Encode(head); err != nil {
		return err
	}
	for i, t := range j.Status.Tasks {
		text, err := protojson.Marshal(without(t, "counts")) // which are beside the message
		if err != nil {
			return err
		}
		l := line{Type: "task", Task: text}
		if i < len(j.Tasks) {
			l.taskFields = j.Tasks[i]
		}
		if err := lines.Encode(l); err != nil {
			return err
		}
	}
	for i := range j.Events.Events {
		if err := lines.Encode(line{Type: "event", Event: &j.Events.Events[i]}); err != nil {
			return err
		}
	}
	if err := lines.Encode(line{Type: "end", Tasks: len(j.Status.Tasks), Events: len(j.Events.Events)}); err != nil {
		return err
	}
	return out.Flush()
}

// head returns the first line.
func (j *Job) head() (l line, err error) {
	l = line{Type: "job", Version: version, EventsSince: j.Events.Since, Actions: j.Actions}
	for _, id := range j.CounterNames {
		l.CounterNames = append(l.CounterNames, [2]string{id.Group, id.Name})
	}
	l.Job, err = protojson.Marshal(without(j.Status, "tasks", "counter_names"))
	return l, err
}

// Decode reads a history, compressed or not. If it is malformed or truncated, the error wraps
// storage.ErrCorrupt.
func Decode(r io.Reader) (*Job, error) { return decode(r, false) }

// DecodeHead reads only the first line of a history: the job without its tasks and events. The
// error is as that of Decode.
func DecodeHead(r io.Reader) (*Job, error) { return decode(r, true) }

func decode(r io.Reader, head bool) (*Job, error) {
	plain, err := Decompress(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrCorrupt, err)
	}
	defer plain.Close() // it was only read
	lines := json.NewDecoder(plain)
	j := new(Job)
	for n := 1; ; n++ {
		var l line
		err := lines.Decode(&l)
		if err == nil {
			err = l.addTo(j, n == 1)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", storage.ErrCorrupt, n, err)
		}
		if head || l.Type == "end" {
			return j, nil
		}
	}
}

// zstdMagic begins a compressed file.
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Decompress returns the text of a file that may be compressed. The caller closes the result; r stays
// open.
func Decompress(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(len(zstdMagic)); !bytes.Equal(magic, zstdMagic) {
		return io.NopCloser(in), nil // an error of Peek comes again
	}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// messages reads messages, and ignores fields that a later program has added.
var messages = protojson.UnmarshalOptions{DiscardUnknown: true}

// addTo adds the content of a line to a history. The first line describes the job, and no other line
// does.
func (l *line) addTo(j *Job, first bool) error {
	switch {
	case first != (l.Type == "job"):
		return fmt.Errorf("unexpected line of type %q", l.Type)
	case l.Type == "job":
		return l.addJob(j)
	case l.Type == "task":
		t := new(wire.TaskStatus)
		j.Status.Tasks = append(j.Status.Tasks, t)
		if err := messages.Unmarshal(l.Task, t); err != nil {
			return err
		}
		j.Tasks, t.Counts = append(j.Tasks, l.taskFields), l.Counters
		return nil
	case l.Type == "event" && l.Event != nil:
		j.Events.Events = append(j.Events.Events, *l.Event)
		return nil
	case l.Type == "end":
		if l.Tasks != len(j.Status.Tasks) {
			return fmt.Errorf("%d tasks, but the end line counts %d", len(j.Status.Tasks), l.Tasks)
		}
		if l.Events != len(j.Events.Events) {
			return fmt.Errorf("%d events, but the end line counts %d", len(j.Events.Events), l.Events)
		}
		return nil
	}
	return fmt.Errorf("unknown type %q", l.Type)
}

// addJob reads the first line.
func (l *line) addJob(j *Job) error {
	if l.Version != version {
		return fmt.Errorf("version %d of the format; this program reads version %d", l.Version, version)
	}
	j.Status, j.Events.Since, j.Actions = new(wire.JobStatus), l.EventsSince, l.Actions
	if err := messages.Unmarshal(l.Job, j.Status); err != nil {
		return err
	}
	j.Status.CounterNames = nil // those of the line count
	for _, name := range l.CounterNames {
		j.CounterNames = append(j.CounterNames, counter.ID{Group: name[0], Name: name[1]})
		j.Status.CounterNames = append(j.Status.CounterNames, &wire.CounterName{Group: name[0], Name: name[1]})
	}
	return nil
}

// Head returns the status without its tasks, stages, partitions and properties. It shares the rest.
func (j *Job) Head() *wire.JobStatus {
	return without(j.Status, "tasks", "stages", "partitions", "properties", "waits", "waits_since")
}

// without returns a message that shares everything but some fields.
func without[T proto.Message](m T, fields ...protoreflect.Name) T {
	rest := m.ProtoReflect().New()
	m.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if !slices.Contains(fields, field.Name()) {
			rest.Set(field, v)
		}
		return true
	})
	return rest.Interface().(T)
}
