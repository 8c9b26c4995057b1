package task

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// MainOutput is the name of the output that every task has.
const MainOutput = "part"

// Output is one output file of a Node: a piece of the task's output. It
// carries a name that no other attempt uses and is moved to its final name
// when the job is committed. One goroutine writes to it.
type Output struct {
	Records int64 // written so far; counted by the caller

	node    *Node
	name    string
	suffix  string
	path    string
	full    string
	writer  storage.Writer
	hash    xxhash.Digest
	length  int64
	seal    func() error           // finishes the format; nil when there is nothing to finish
	suspend func() ([]byte, error) // in place of seal at a pause; nil: seal
}

// outputs are the open outputs of a Node and the pieces that earlier attempts of
// its task have closed.
type outputs struct {
	mu struct {
		sync.Mutex
		open   []*Output
		closed []*taskproc.Piece
		opened map[string]bool // outputs by name that this attempt has had open
	}
}

// Output makes the output named name, whose final file ends in suffix
// (".gz" or ""). seal is called before the file is closed, to finish its
// format.
func (n *Node) Output(name, suffix string) (*Output, error) {
	if n.Start.OutputDir == "" {
		return nil, fmt.Errorf("output %q: the job has no output directory", name)
	}
	fs, dir, err := n.Resolve(n.ctx, n.Start.OutputDir)
	if err != nil {
		return nil, err
	}
	path := fmt.Sprintf("%s/%s.%s.%03d%s", dir, n.Start.AttemptId, name, n.serial.Add(1)-1, suffix)
	w, err := n.create(fs, path)
	if err != nil {
		return nil, fmt.Errorf("output file: %w", err)
	}
	o := &Output{node: n, name: name, suffix: suffix, path: path, full: storage.Name(fs, path), writer: w}
	o.hash.Reset()
	n.files.mu.Lock()
	n.files.mu.open = append(n.files.mu.open, o)
	if n.files.mu.opened == nil {
		n.files.mu.opened = make(map[string]bool)
	}
	n.files.mu.opened[name] = true
	n.files.mu.Unlock()
	return o, nil
}

// OnClose sets what finishes the file's format before it is closed.
func (o *Output) OnClose(seal func() error) { o.seal = seal }

// OnSuspend sets what is called in place of OnClose's function when the attempt
// is paused: it leaves the format unfinished and returns what is to go at the
// head of the next piece.
func (o *Output) OnSuspend(suspend func() ([]byte, error)) { o.suspend = suspend }

// Pending is what the output's suspend function returned in the attempt before
// this one.
func (o *Output) Pending() []byte {
	for _, p := range o.node.resumed.GetPending() {
		if p.Output == o.name {
			return p.Data
		}
	}
	return nil
}

// PendingOutputs are the names of outputs of which the attempt before this one has
// left an end that belongs at the head of the next piece.
func (n *Node) PendingOutputs() (names []string) {
	for _, p := range n.resumed.GetPending() {
		names = append(names, p.Output)
	}
	return names
}

// notTaken is what attempts before a pause have left of outputs that this one has
// not opened.
func (n *Node) notTaken() (left []*taskproc.Pending) {
	n.files.mu.Lock()
	defer n.files.mu.Unlock()
	for _, p := range n.resumed.GetPending() {
		if !n.files.mu.opened[p.Output] {
			left = append(left, p)
		}
	}
	return left
}

// Write appends to the file.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.writer.Write(p)
	o.hash.Write(p[:n])
	o.length += int64(n)
	if err != nil {
		return n, fmt.Errorf("output file %s: %w", o.full, err)
	}
	return n, nil
}

// finish ends the format, or breaks it off for a pause.
func (o *Output) finish(pause bool) (pending []byte, err error) {
	switch {
	case pause && o.suspend != nil:
		return o.suspend()
	case o.seal != nil:
		return nil, o.seal()
	}
	return nil, nil
}

func (o *Output) close() (*taskproc.Piece, error) {
	if err := o.writer.Close(); err != nil {
		return nil, fmt.Errorf("output file %s: %w", o.full, err)
	}
	o.node.Counters.Add(counter.BytesWritten, o.length)
	return &taskproc.Piece{
		Output: o.name, Path: o.full, Length: o.length,
		Checksum: o.hash.Sum64(), Records: o.Records, Suffix: o.suffix,
		Stage: int32(o.node.stage), Part: int32(o.node.number),
	}, nil
}

// close closes the open outputs and returns the manifest: the pieces of
// earlier attempts, then those of this one. At a pause it also returns what is
// to go at the head of the next pieces.
func (s *outputs) close(pause bool) (pieces []*taskproc.Piece, pending []*taskproc.Pending, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.mu.open) > 0 {
		o := s.mu.open[0]
		rest, err := o.finish(pause)
		if err != nil {
			return nil, nil, err
		}
		if len(rest) > 0 {
			pending = append(pending, &taskproc.Pending{Output: o.name, Data: bytes.Clone(rest)})
		}
		piece, err := o.close()
		if err != nil {
			return nil, nil, err
		}
		s.mu.open = s.mu.open[1:]
		s.mu.closed = append(s.mu.closed, piece)
	}
	return s.mu.closed, pending, nil
}

// framed reports whether an open output keeps back what is no whole frame yet.
func (s *outputs) framed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.mu.open, func(o *Output) bool { return o.suspend != nil })
}

// abort removes the files of this Node that are not closed. Those that are
// closed belong to whoever ends the attempt.
func (s *outputs) abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.mu.open {
		_ = o.writer.Abort()
	}
	s.mu.open = nil
}
