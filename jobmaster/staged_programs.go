package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
)

// stagedNames keeps submissions and the sweep from using one file of the staging directory at
// the same time. A submission reserves its program before it looks for the file, and until its
// job is in the state. The sweep removes only what nothing has reserved. The zero value is
// ready for use.
type stagedNames struct {
	mu struct {
		sync.Mutex
		reserved map[string]int  // submissions by the last path element of their program
		removing map[string]bool // files that the sweep is removing
	}
}

// reserve keeps a file until release is called. ok is false if it is being removed.
func (n *stagedNames) reserve(name string) (release func(), ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.removing[name] {
		return nil, false
	}
	if n.mu.reserved == nil {
		n.mu.reserved = make(map[string]int)
	}
	n.mu.reserved[name]++
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.mu.reserved[name]--; n.mu.reserved[name] == 0 {
			delete(n.mu.reserved, name)
		}
	}, true
}

// remove calls do unless the file is reserved. No submission can reserve it meanwhile.
func (n *stagedNames) remove(name string, do func() error) error {
	n.mu.Lock()
	if n.mu.reserved[name] > 0 || n.mu.removing[name] {
		n.mu.Unlock()
		return nil
	}
	if n.mu.removing == nil {
		n.mu.removing = make(map[string]bool)
	}
	n.mu.removing[name] = true
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.mu.removing, name)
	}()
	return do()
}

// reserveProgram reserves the program of a submission and checks that it is there: the sweep
// may have removed it after the client found it.
func (m *Master) reserveProgram(ctx context.Context, spec *wire.JobSpec) (release func(), err error) {
	if m.cfg.StagingDir == "" || spec.Binary == "" {
		return func() {}, nil
	}
	missing := fmt.Errorf("jobmaster: program %s of the job is not there; submit the job again, which stages the program again", spec.Binary)
	release, ok := m.staged.reserve(path.Base(spec.Binary))
	if !ok {
		return nil, missing
	}
	fsys, file, err := m.cfg.Resolve(ctx, spec.Binary)
	if err == nil {
		_, err = fsys.Stat(ctx, file)
	}
	if err == nil {
		return release, nil
	}
	release()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing
	}
	return nil, fmt.Errorf("jobmaster: program of the job: %w", err)
}

// removeUnused removes an expired entry and everything below it, unless a job or a submission
// has begun to use it since the sweep has asked for the names in use.
func (m *Master) removeUnused(ctx context.Context, fsys storage.FS, file string) error {
	name := path.Base(file)
	return m.staged.remove(name, func() error {
		used, err := ask(ctx, m, func() (bool, error) { return m.isUsed(name), nil })
		if err != nil || used {
			return err
		}
		return fsys.Remove(ctx, file, true)
	})
}
