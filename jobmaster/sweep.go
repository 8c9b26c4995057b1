package jobmaster

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/kit/pattern"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
	"google.golang.org/protobuf/proto"
)

// The leader removes files of old jobs: histories, logs, programs, and splits of failed
// submissions. It removes a file if the file is older than Config.Retention and no job in
// the state uses it. The check of the age protects files that a client has just staged for a
// job that is not in the state yet. Old files that are used again are reserved (stagedNames).

// sweepDirs returns the directories whose entries may be removed.
func (m *Master) sweepDirs() []string {
	dirs := []string{m.cfg.HistoryDir, m.cfg.LogDir}
	if m.cfg.StagingDir != "" {
		dirs = append(dirs, joinName(m.cfg.StagingDir, "artifacts"), joinName(m.cfg.StagingDir, "jobs"))
	}
	return dirs
}

// sweepEvery sweeps regularly until ctx ends at the end of the lead.
func (m *Master) sweepEvery(ctx context.Context) {
	syncutil.Every(ctx, m.cfg.SweepInterval, func() {
		if err := m.sweep(ctx); err != nil && ctx.Err() == nil {
			m.cfg.Logger.Warn("cleanup of expired files failed", "error", err)
		}
	})
}

// sweep looks through each directory once. It first takes the names in use from the state,
// by a query of the loop. Everything else runs in the sweeping goroutine.
func (m *Master) sweep(ctx context.Context) error {
	used, err := ask(ctx, m, func() (map[string]bool, error) { return m.usedNames(), nil })
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range m.sweepDirs() {
		if dir != "" {
			errs = append(errs, m.sweepDir(ctx, dir, used))
		}
	}
	return errors.Join(errs...)
}

// usedNames returns the last path elements of the files that jobs in the state use.
func (m *Master) usedNames() map[string]bool {
	used := make(map[string]bool)
	for j := range m.view.Jobs() {
		used[j.ID.String()] = true
		used[historyFile(j.ID)] = true
		if j.Archived {
			continue
		}
		for _, name := range stagedFor(m.specOf(j)) {
			used[name] = true
		}
	}
	return used
}

// isUsed reports whether usedNames has a name. A sweep asks for each expired entry, so it makes
// no list.
func (m *Master) isUsed(name string) bool {
	if id, err := cluster.ParseJobID(strings.TrimSuffix(name, history.CompressedSuffix)); err == nil && m.view.Job(id) != nil {
		return true
	}
	for j := range m.view.Jobs() {
		if !j.Archived && slices.Contains(stagedFor(m.specOf(j)), name) {
			return true
		}
	}
	return false
}

// stagedFor returns the last path elements of what a job uses in the staging directory.
func stagedFor(spec *wire.JobSpec) []string {
	return []string{path.Base(spec.Binary), path.Base(path.Dir(spec.SplitsPath))}
}

// specOf returns the specification that a job's client submitted.
func (m *Master) specOf(j *cluster.Job) *wire.JobSpec {
	if r := m.records[j.ID]; r != nil {
		return r.spec
	}
	spec := new(wire.JobSpec)
	_ = proto.Unmarshal(j.Spec.Document, spec) // cannot fail: checked at submission
	return spec
}

// sweepDir removes the expired entries of a directory and everything below them. A missing
// directory counts as empty. After an error it continues with the next entry.
func (m *Master) sweepDir(ctx context.Context, dir string, used map[string]bool) error {
	fsys, dir, err := m.cfg.Resolve(ctx, dir)
	if err != nil {
		return err
	}
	entries, err := fsys.List(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		switch end, day := endOfDay(path.Base(e.Path)); {
		case day && e.IsDir && m.cfg.Now().Sub(end) > m.settings().Retention:
			errs = append(errs, m.sweepDay(ctx, fsys, e.Path, used))
		case day:
		case !used[path.Base(e.Path)] && m.expired(e):
			errs = append(errs, m.removeUnused(ctx, fsys, e.Path))
		}
	}
	return errors.Join(errs...)
}

// sweepDay removes the directory of a day that has expired. If a job in the state uses some
// of its entries, or some were written later, only the others are removed.
func (m *Master) sweepDay(ctx context.Context, fsys storage.FS, dir string, used map[string]bool) error {
	entries, err := fsys.List(ctx, dir)
	if err != nil {
		return err
	}
	kept := func(e storage.FileInfo) bool { return used[path.Base(e.Path)] || !m.expired(e) }
	if !slices.ContainsFunc(entries, kept) {
		return fsys.Remove(ctx, dir, true)
	}
	var errs []error
	for _, e := range entries {
		if !kept(e) {
			errs = append(errs, fsys.Remove(ctx, e.Path, true))
		}
	}
	return errors.Join(errs...)
}

// expired reports whether an entry may be removed. Hidden files belong to other programs,
// except the partial program of a client that ended while it staged the program.
func (m *Master) expired(e storage.FileInfo) bool {
	name := path.Base(e.Path)
	return (!strings.HasPrefix(name, ".") || partProgram().MatchString(name)) && m.cfg.Now().Sub(e.ModTime) > m.settings().Retention
}

// partProgram matches the temporary name of a program: its hash and a random suffix.
var partProgram = pattern.New(`^\.[0-9a-f]{64}\.[A-Z2-7]+$`)
