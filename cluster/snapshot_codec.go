package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fxamacker/cbor/v2"
)

// An encoded snapshot is a line of text, "hammr-snapshot <version>\n", and a sequence of CBOR
// items: the State; the number of its jobs; then each Job, followed by the number and the tasks of
// each of its stages. Nothing comes after the last one.
const (
	snapshotHeader  = "hammr-snapshot "
	snapshotVersion = 3
)

// Encode writes the snapshot. The same state gives the same bytes.
func (s *Snapshot) Encode(w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	out := encoding.NewEncoder(buffered)
	_, err := fmt.Fprintf(buffered, "%s%d\n", snapshotHeader, snapshotVersion)
	err = errors.Join(err, out.Encode(&s.state), out.Encode(len(s.state.jobs)))
	for _, j := range s.state.jobs {
		if err != nil {
			break
		}
		err = j.encode(out)
	}
	if err := errors.Join(err, buffered.Flush()); err != nil {
		return fmt.Errorf("cluster: writing a snapshot: %w", err)
	}
	return nil
}

// encode writes the job, then each task as an item of its own. A reader never needs
// memory for more than one of them at a time.
func (j *Job) encode(out *cbor.Encoder) error {
	if err := out.Encode(j); err != nil {
		return err
	}
	for _, stage := range j.Stages {
		if err := out.Encode(len(stage.Tasks)); err != nil {
			return err
		}
		for _, t := range stage.Tasks {
			if err := out.Encode(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// DecodeSnapshot reads what Encode has written, to the end of r. The result behaves like the
// original, except that no job's splits are loaded. What a snapshot has is taken as it is, even if
// a part contradicts another: the masters that run have it too, and must be able to restart.
// Fields and versions that this program does not know are an error, and so is a snapshot that has
// not the form of a state.
func DecodeSnapshot(r io.Reader) (*State, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	if err := readHeader(buffered); err != nil {
		return nil, err
	}
	s := new(Snapshot)
	if err := s.state.decode(decoding.NewDecoder(buffered)); err != nil {
		return nil, fmt.Errorf("cluster: reading a snapshot: %w", err)
	}
	return s.Restore()
}

// readHeader reads the first line and checks the version of the format.
func readHeader(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || errors.Is(err, io.EOF) {
		err = nil // not a header, which is reported below
	}
	if err != nil {
		return fmt.Errorf("cluster: reading a snapshot: %w", err)
	}
	number, marked := strings.CutPrefix(string(line), snapshotHeader)
	version, err := strconv.Atoi(strings.TrimSuffix(number, "\n"))
	if !marked || err != nil {
		return errors.New("cluster: not a snapshot of hammr's state")
	}
	if version != snapshotVersion {
		return fmt.Errorf("cluster: snapshot of format %d: this version of hammr reads format %d", version, snapshotVersion)
	}
	return nil
}

// decode reads the items of a snapshot, and the end after the last one.
func (s *State) decode(in *cbor.Decoder) error {
	jobs := 0
	if err := s.decodeCluster(in); err != nil {
		return fmt.Errorf("the cluster: %w", err)
	}
	if err := decodeNext(in, &jobs); err != nil {
		return err
	}
	for n := range jobs {
		j := new(Job)
		if err := j.decode(in); err != nil {
			return fmt.Errorf("job %d of %d: %w", n+1, jobs, err)
		}
		s.jobs = append(s.jobs, j)
	}
	if err := in.Skip(); !errors.Is(err, io.EOF) {
		return errors.New("more data follows the end of the snapshot")
	}
	return nil
}

// decodeCluster reads the cluster version first: a newer version explains fields that are not known.
func (s *State) decodeCluster(in *cbor.Decoder) error {
	var item cbor.RawMessage
	if err := decodeNext(in, &item); err != nil {
		return err
	}
	var known struct {
		Version int `cbor:"2,keyasint"` // as in State
	}
	if err := lenient.Unmarshal(item, &known); err != nil {
		return err
	}
	if err := checkSupported(known.Version); err != nil {
		return err
	}
	return decoding.Unmarshal(item, s)
}

// decode allocates memory only for items that it has read, never by a count that it has
// read.
func (j *Job) decode(in *cbor.Decoder) error {
	if err := decodeNext(in, j); err != nil {
		return err
	}
	for i, stage := range j.Stages {
		if stage == nil {
			return fmt.Errorf("stage %d is null", i)
		}
		tasks := 0
		if err := decodeNext(in, &tasks); err != nil {
			return err
		}
		for n := range tasks {
			t := new(Task)
			if err := decodeNext(in, t); err != nil {
				return fmt.Errorf("stage %d: task %d of %d: %w", i, n, tasks, err)
			}
			stage.Tasks = append(stage.Tasks, t)
		}
	}
	return nil
}

// decodeNext decodes an item that must be there.
func decodeNext(in *cbor.Decoder, into any) error {
	err := in.Decode(into)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
