package task

import (
	"context"
	"sync"

	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/storage"
)

// A remote file is one in a file system of other machines. Its server gives up a
// writer that is silent for long, so no remote file may be open while the attempt is
// suspended: each one passes the quiesceGate.

// isLocal reports whether a file system has no server that gives up its writers.
func isLocal(fsys storage.FS) bool { return fsys.URI() == "file://" }

// create makes a file, a remote one once the gate is open. The attempt cannot be
// suspended until the writer is closed.
func (a *Attempt) create(fsys storage.FS, path string) (storage.Writer, error) {
	if !isLocal(fsys) {
		if err := a.countRemote(); err != nil {
			return nil, err
		}
	}
	return a.createCounted(fsys, path, fsconf.CreateOptions(a.Conf))
}

// tryCreate is create for a caller that cannot wait. If the gate is blocked it returns
// what is closed when the gate opens.
//
// It makes no directory. The master made the job's directory and removes it when the job is
// over. An attempt that does not know this yet must not make the directory again.
func (a *Attempt) tryCreate(fsys storage.FS, path string) (w storage.Writer, unblocked <-chan struct{}, err error) {
	if !isLocal(fsys) {
		if unblocked := a.gate.tryOpen(); unblocked != nil {
			return nil, unblocked, nil
		}
	}
	o := fsconf.CreateOptions(a.Conf)
	o.NoParents = true
	w, err = a.createCounted(fsys, path, o)
	return w, nil, err
}

// createCounted makes a file. A remote one has been counted by the gate.
func (a *Attempt) createCounted(fsys storage.FS, path string, o storage.CreateOptions) (storage.Writer, error) {
	w, err := fsys.Create(a.ctx, path, o)
	switch {
	case isLocal(fsys):
		return w, err
	case err != nil:
		a.gate.closed()
		return nil, err
	}
	return &remoteWriter{Writer: w, closed: sync.OnceFunc(a.gate.closed)}, nil
}

// countRemote counts a remote file once the gate is open.
func (a *Attempt) countRemote() error {
	for {
		unblocked := a.gate.tryOpen()
		if unblocked == nil {
			return nil
		}
		if err := a.await(unblocked); err != nil {
			return err
		}
	}
}

// await waits until the gate opens. The error is the cause if the attempt ends first.
func (a *Attempt) await(unblocked <-chan struct{}) error {
	select {
	case <-unblocked:
		return nil
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	}
}

// remoteWriter notifies the gate when its file is closed. A second Close or Abort does not
// count again.
type remoteWriter struct {
	storage.Writer
	closed func()
}

// Close counts the file less even after an error: the caller aborts it then.
func (w *remoteWriter) Close() error {
	defer w.closed()
	return w.Writer.Close()
}

func (w *remoteWriter) Abort() error {
	defer w.closed()
	return w.Writer.Abort()
}
