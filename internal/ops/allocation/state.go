package allocation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/kit/owndir"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/ops/launch"
)

// stateDir is the directory that outlives the allocations of a program:
//
//	state.json             the manifest: what is saved; it names saved-N
//	saved-N/masters        backup of the masters
//	saved-N/nI/            files of a tasknode (tree.go)
//	local/nI/              local files of a tasknode, if they lie on the shared file system
//	masters                addresses of the masters, while the cluster is ready
//	token, lock            secret of the cluster; locked by the allocation that uses the directory
//	staging/               programs and splits
//	history/, joblogs/     of the masters; they stay when the program has ended
//	claims/                jobs that the program of this allocation has continued or submitted
//	jobs/, logs/           reports of jobs that are over, logs of daemons
type stateDir struct {
	dir    string
	unlock func()
}

// manifestVersion is the version of manifest.
const manifestVersion = 1

// manifest says what a state directory has.
type manifest struct {
	Version    int             `json:"version"`
	Cluster    string          `json:"cluster"`    // id
	Command    []string        `json:"command"`    // the program with its arguments
	Generation int             `json:"generation"` // saved-N; 0 if nothing is saved
	SavedAt    time.Time       `json:"savedAt,omitzero"`
	Job        string          `json:"job,omitempty"`       // of the scheduler, that saved it
	Tasknodes  []savedTasknode `json:"tasknodes,omitempty"` // in order: n1, n2, …
	Suspended  []string        `json:"suspended,omitempty"` // jobs to be resumed
	SuspendMS  int64           `json:"suspendMs,omitempty"` // how long the jobs took to be suspended
	CopyMS     int64           `json:"copyMs,omitempty"`    // how long the rest of the saving took
}

// savedTasknode is a tasknode whose files are saved.
type savedTasknode struct {
	Name   string   `json:"name"`
	Shared bool     `json:"shared,omitempty"` // its local files lie in local/NAME; nothing was copied
	Tree   treeInfo `json:"tree,omitzero"`
}

// lockWait is how long an allocation waits for the one before, whose processes may just end.
const lockWait = 20 * time.Second

// openState locks a state directory, which is made if necessary.
func openState(ctx context.Context, dir string) (*stateDir, error) {
	if err := checkStateDir(dir); err != nil {
		return nil, err
	}
	if err := owndir.Make(dir, 0o700); err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	unlock, err := procfs.Lock(bounded, filepath.Join(dir, "lock"))
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("--state %s: another allocation uses it; wait for its end, or give another directory", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	return &stateDir{dir, unlock}, nil
}

// checkStateDir refuses a directory with files that are not of a state directory.
func checkStateDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	if len(entries) == 0 || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "lock" }) {
		return nil
	}
	return fmt.Errorf("--state %s has other files, such as %s; give a new directory", dir, entries[0].Name())
}

// path returns a path in the directory.
func (s *stateDir) path(elements ...string) string {
	return filepath.Join(append([]string{s.dir}, elements...)...)
}

// saved returns the directory of a generation.
func (s *stateDir) saved(generation int) string { return s.path("saved-" + strconv.Itoa(generation)) }

// mastersFile returns the file with the addresses of the masters while they run, for commands such
// as `hammr job list`.
func (s *stateDir) mastersFile() string { return s.path("masters") }

func (s *stateDir) manifestFile() string { return s.path("state.json") }

// read returns the manifest, which is that of the given command. A directory without one gets a
// new cluster.
func (s *stateDir) read(command []string) (*manifest, error) {
	newCluster := launch.NewClusterID()
	m := &manifest{Version: manifestVersion, Cluster: newCluster, Command: slices.Clone(command)}
	err := jsonfile.ReadOwn(s.manifestFile(), m)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, nil
	case err != nil:
		return nil, fmt.Errorf("--state %s is damaged: %w; give an empty directory to start over", s.dir, err)
	case m.Version != manifestVersion:
		return nil, fmt.Errorf("--state %s has version %d; this program reads version %d: use the program that has saved it", s.dir, m.Version, manifestVersion)
	case !slices.Equal(m.Command, command):
		return nil, fmt.Errorf("--state %s is that of another program, %s (cluster %s, saved by job %s); give the same program, or another directory",
			s.dir, strings.Join(m.Command, " "), m.Cluster, cmp.Or(m.Job, "none"))
	case m.Generation == 0: // an allocation has failed before it saved anything; ids of its jobs are not used again
		m.Cluster = newCluster
	}
	return m, nil
}

// write replaces the manifest, and makes it durable.
func (s *stateDir) write(m *manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	next := s.manifestFile() + ".new"
	err = os.WriteFile(next, append(text, '\n'), 0o600)
	if err == nil {
		err = syncPath(next)
	}
	if err == nil {
		err = os.Rename(next, s.manifestFile())
	}
	if err == nil {
		err = syncPath(s.dir)
	}
	return err
}

// clean removes the generations but one, and what saving has left that was interrupted.
func (s *stateDir) clean(keep int) error {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		if path := s.path(e.Name()); strings.HasPrefix(e.Name(), "saved-") && path != s.saved(keep) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}

// finish removes what only a program needs that continues.
func (s *stateDir) finish() error {
	errs := []error{os.Remove(s.manifestFile())}
	if errors.Is(errs[0], fs.ErrNotExist) {
		errs[0] = nil
	}
	errs = append(errs, s.clean(0))
	for _, name := range []string{"masters", "token", "staging", "local", "claims"} {
		errs = append(errs, os.RemoveAll(s.path(name)))
	}
	return errors.Join(errs...)
}

// close unlocks the directory.
func (s *stateDir) close() { s.unlock() }
