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

// An encoded snapshot is a line of text, "hammr-snapshot <version>\n", and a
// sequence of CBOR items: the cluster with its machines and sessions; then each
// job, followed by its tasks, stage by stage. Nothing comes after the last one.
const (
	snapshotHeader  = "hammr-snapshot "
	snapshotVersion = 3
)

// Encode writes the snapshot. The same state gives the same bytes.
func (s *Snapshot) Encode(w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	out := encoding.NewEncoder(buffered)
	_, err := fmt.Fprintf(buffered, "%s%d\n", snapshotHeader, snapshotVersion)
	err = errors.Join(err, out.Encode(s.cluster))
	for i := range s.jobs {
		if err != nil {
			break
		}
		err = s.jobs[i].encode(out)
	}
	if err := errors.Join(err, buffered.Flush()); err != nil {
		return fmt.Errorf("cluster: writing a snapshot: %w", err)
	}
	return nil
}

// encode writes the job, then each task as an item of its own. A reader never needs
// memory for more than one of them at a time.
func (j *jobRecord) encode(out *cbor.Encoder) error {
	if err := out.Encode(j); err != nil {
		return err
	}
	for _, tasks := range j.tasks {
		for i := range tasks {
			if err := out.Encode(&tasks[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// DecodeSnapshot reads what Encode has written, to the end of r. Fields and versions that
// this program does not know are an error.
func DecodeSnapshot(r io.Reader) (*Snapshot, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	if err := readHeader(buffered); err != nil {
		return nil, err
	}
	s, err := decodeRecords(decoding.NewDecoder(buffered))
	if err != nil {
		return nil, fmt.Errorf("cluster: reading a snapshot: %w", err)
	}
	return s, nil
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

// decodeRecords reads the items of a snapshot, and the end after the last one.
func decodeRecords(in *cbor.Decoder) (*Snapshot, error) {
	s := new(Snapshot)
	if err := s.cluster.decode(in); err != nil {
		return nil, fmt.Errorf("the cluster: %w", err)
	}
	for n := range s.cluster.Jobs {
		var j jobRecord
		if err := j.decode(in); err != nil {
			return nil, fmt.Errorf("job %d of %d: %w", n+1, s.cluster.Jobs, err)
		}
		s.jobs = append(s.jobs, j)
	}
	if err := in.Skip(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more data follows the end of the snapshot")
	}
	return s, nil
}

// decode reads the cluster version first: a newer version explains fields that are not known.
func (c *clusterRecord) decode(in *cbor.Decoder) error {
	var item cbor.RawMessage
	if err := decodeNext(in, &item); err != nil {
		return err
	}
	var known struct {
		Version int `cbor:"12,keyasint"`
	}
	if err := lenient.Unmarshal(item, &known); err != nil {
		return err
	}
	if err := checkSupported(known.Version); err != nil {
		return err
	}
	return decoding.Unmarshal(item, c)
}

// decode allocates memory only for items that it has read, never by a count that it has
// read.
func (j *jobRecord) decode(in *cbor.Decoder) error {
	if err := decodeNext(in, j); err != nil {
		return err
	}
	j.tasks = make([][]taskRecord, len(j.Stages))
	for i, stage := range j.Stages {
		for n := range stage.Tasks {
			var t taskRecord
			if err := decodeNext(in, &t); err != nil {
				return fmt.Errorf("stage %d: task %d of %d: %w", i, n, stage.Tasks, err)
			}
			j.tasks[i] = append(j.tasks[i], t)
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
