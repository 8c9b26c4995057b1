package task

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/storage"
)

// MainOutput is the name of the output that every task has.
const MainOutput = "part"

// Output writes one output of a Node: one file, or several if the attempt was suspended
// meanwhile. Each file is a piece of the task's output. No other attempt uses its name. The
// job's commit joins the pieces under their final name. One goroutine writes to it;
// closePiece may come from another one.
//
//	lockOpen ─► file open ── closePiece: the attempt is to be suspended ──► no file
//	               ▲  │ Write …                                              │
//	               │  └── close ──► pieces                                   │
//	               └──── next Write, once the gate is open ◄─────────────────┘
type Output struct {
	Records int64 // number of records written; the caller counts them

	node        *NodeRun               // Node that writes the output
	name        string                 // name of the output; MainOutput for the job's own
	suffix      string                 // suffix of the final file name, such as ".gz"
	fs          storage.FS             // file system of the job's output
	dir         string                 // directory in which the attempts of the job write
	seal        func() error           // finishes the format; nil: nothing to finish
	sealPartial func() ([]byte, error) // called in place of seal at a checkpoint; nil: seal

	mu struct {
		sync.Mutex
		file   *outputFile       // file that is written; nil after closePiece, until the next Write
		pieces []*taskproc.Piece // closed files, in the order of their records
	}
}

// outputFile is an open file. Its hash and length become those of the piece.
type outputFile struct {
	full   string // name with the scheme of its file system
	writer storage.Writer
	hash   xxhash.Digest // hash of the bytes written
	length int64         // number of bytes written
}

// outputs are the open outputs of a Node, and the pieces that earlier attempts of its
// task have closed.
type outputs struct {
	mu struct {
		sync.Mutex
		open   []*Output         // in the order in which they were made
		closed []*taskproc.Piece // pieces of earlier attempts, then of outputs that close has closed
		opened map[string]bool   // outputs by name that this attempt has had open
	}
}

// Output makes the named output, whose final file name ends in suffix (".gz" or "").
func (n *NodeRun) Output(name, suffix string) (*Output, error) {
	if n.Attempt.Start.OutputDir == "" {
		return nil, fmt.Errorf("output %q: the job has no output directory", name)
	}
	fs, dir, err := n.Attempt.Resolve(n.Attempt.ctx, n.Attempt.Start.OutputDir)
	if err != nil {
		return nil, err
	}
	o := &Output{node: n, name: name, suffix: suffix, fs: fs, dir: dir}
	n.files.mu.Lock()
	n.files.mu.open = append(n.files.mu.open, o)
	if n.files.mu.opened == nil {
		n.files.mu.opened = make(map[string]bool)
	}
	n.files.mu.opened[name] = true
	n.files.mu.Unlock()
	if err := o.lockOpen(); err != nil {
		return nil, err
	}
	o.mu.Unlock()
	return o, nil
}

// lockOpen locks the output with a file open. After closePiece it opens the next file
// once the attempt is resumed. After an error the output is not locked.
func (o *Output) lockOpen() error {
	for {
		o.mu.Lock()
		if o.mu.file != nil {
			return nil
		}
		unblocked, err := o.open()
		if unblocked == nil && err == nil {
			return nil
		}
		o.mu.Unlock()
		if err == nil {
			err = o.node.Attempt.await(unblocked)
		}
		if err != nil {
			return err
		}
	}
}

// open opens the next file. If the gate is blocked it returns what is closed when it opens.
// The serial number continues from the pieces that attempts before a checkpoint have closed.
func (o *Output) open() (unblocked <-chan struct{}, err error) {
	n := o.node
	path := fmt.Sprintf("%s/%s.%s.%03d%s", o.dir, n.Attempt.Start.AttemptId, o.name, n.Attempt.serial.Add(1)-1, o.suffix)
	w, unblocked, err := n.Attempt.tryCreate(o.fs, path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("output file: %w", err)
	case unblocked == nil:
		o.mu.file = &outputFile{full: storage.Name(o.fs, path), writer: w}
		o.mu.file.hash.Reset()
	}
	return unblocked, nil
}

// OnClose sets the function that finishes the file's format before it is closed.
func (o *Output) OnClose(seal func() error) { o.seal = seal }

// OnCheckpoint sets a function that is called in place of OnClose's if the attempt is
// checkpointed. It leaves the format unfinished, and returns the head of the next
// piece.
func (o *Output) OnCheckpoint(suspend func() ([]byte, error)) { o.sealPartial = suspend }

// Pending returns what the OnCheckpoint function returned in the attempt that this one
// resumes.
func (o *Output) Pending() []byte {
	for _, p := range o.node.resumed.GetPending() {
		if p.Output == o.name {
			return p.Data
		}
	}
	return nil
}

// PendingOutputs returns the names of outputs whose next piece has a head from the attempt
// that this one resumes.
func (n *NodeRun) PendingOutputs() (names []string) {
	for _, p := range n.resumed.GetPending() {
		names = append(names, p.Output)
	}
	return names
}

// unopenedPending returns the heads of next pieces of outputs that this attempt has not
// opened.
func (n *NodeRun) unopenedPending() (left []*taskproc.PendingOutput) {
	n.files.mu.Lock()
	defer n.files.mu.Unlock()
	for _, p := range n.resumed.GetPending() {
		if !n.files.mu.opened[p.Output] {
			left = append(left, p)
		}
	}
	return left
}

// Write appends to the open file.
func (o *Output) Write(p []byte) (int, error) {
	if err := o.lockOpen(); err != nil {
		return 0, err
	}
	defer o.mu.Unlock()
	return o.mu.file.Write(p)
}

// Write appends to the file. The error names it.
func (f *outputFile) Write(p []byte) (int, error) {
	n, err := f.writer.Write(p)
	f.hash.Write(p[:n])
	f.length += int64(n)
	if err != nil {
		return n, fmt.Errorf("output file %s: %w", f.full, err)
	}
	return n, nil
}

// finish finishes the format, or interrupts it for a checkpoint.
func (o *Output) finish(checkpointed bool) (pending []byte, err error) {
	switch {
	case checkpointed && o.sealPartial != nil:
		return o.sealPartial()
	case o.seal != nil:
		return nil, o.seal()
	}
	return nil, nil
}

// closePiece makes a piece of what is written so far, so that no remote file stays open
// while the attempt is suspended; local files only if it is asked to. What is written later
// goes to another file.
func (o *Output) closePiece(local bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if isLocal(o.fs) && !local || o.mu.file == nil {
		return nil
	}
	return o.endFile()
}

// endFile makes a piece of the open file. The output is locked.
func (o *Output) endFile() error {
	f := o.mu.file
	if err := f.writer.Close(); err != nil {
		return fmt.Errorf("output file %s: %w", f.full, err)
	}
	o.node.Attempt.Counters.Add(counter.BytesWritten, f.length)
	o.mu.file = nil
	o.mu.pieces = append(o.mu.pieces, &taskproc.Piece{
		Output: o.name, Path: f.full, Length: f.length,
		Checksum: f.hash.Sum64(), Suffix: o.suffix,
		Stage: int32(o.node.stage), Part: int32(o.node.number),
	})
	return nil
}

// close ends the output. Its records count for the last of its pieces.
func (o *Output) close() ([]*taskproc.Piece, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.file != nil {
		if err := o.endFile(); err != nil {
			return nil, err
		}
	}
	pieces := o.mu.pieces
	pieces[len(pieces)-1].Records = o.Records
	return pieces, nil
}

// abort removes the files of the output.
func (o *Output) abort() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.file != nil {
		_ = o.mu.file.writer.Abort()
	}
	ctx := context.WithoutCancel(o.node.Attempt.ctx)
	for _, p := range o.mu.pieces {
		if fs, path, err := o.node.Attempt.Resolve(ctx, p.Path); err == nil {
			_ = fs.Remove(ctx, path, false)
		}
	}
}

// close closes the open outputs and returns all pieces: those of earlier attempts, then
// those of this one. At a checkpoint it also returns the heads of the next pieces.
func (s *outputs) close(checkpointed bool) (pieces []*taskproc.Piece, pending []*taskproc.PendingOutput, err error) {
	for o := s.first(); o != nil; o = s.first() {
		rest, err := o.finish(checkpointed)
		if err != nil {
			return nil, nil, err
		}
		if len(rest) > 0 {
			pending = append(pending, &taskproc.PendingOutput{Output: o.name, Data: bytes.Clone(rest)})
			if o.node.Poisoned() {
				poison.Fill(rest) // it belongs to the format, which has ended
			}
		}
		pieces, err := o.close()
		if err != nil {
			return nil, nil, err
		}
		s.mu.Lock()
		s.mu.open = s.mu.open[1:]
		s.mu.closed = append(s.mu.closed, pieces...)
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.closed, pending, nil
}

// first returns the first open output, nil if there is none. outputs is not locked while
// an output is closed, since that may wait until the attempt is resumed.
func (s *outputs) first() *Output {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mu.open) == 0 {
		return nil
	}
	return s.mu.open[0]
}

// closePieces makes pieces of the open outputs, of local ones only if it is asked to. The gate is
// blocked meanwhile.
func (s *outputs) closePieces(local bool) error {
	s.mu.Lock()
	open := slices.Clone(s.mu.open)
	s.mu.Unlock()
	for _, o := range open {
		if err := o.closePiece(local); err != nil {
			return err
		}
	}
	return nil
}

// hasFraming reports whether an open output has an incomplete frame that is not written.
func (s *outputs) hasFraming() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.mu.open, func(o *Output) bool { return o.sealPartial != nil })
}

// abort removes the files of this Node that are not closed.
func (s *outputs) abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.mu.open {
		o.abort()
	}
	s.mu.open = nil
}
