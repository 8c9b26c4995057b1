package jobmaster

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/storage"
	"google.golang.org/protobuf/proto"
)

// What jobs leave behind is removed when it is older than Config.Retention and
// no job in the state uses it: histories, logs, programs, and splits of
// submissions that came to nothing.

// sweepDirs are the directories with an entry for each thing that may go.
func (m *Master) sweepDirs() []string {
	places := []string{m.cfg.HistoryDir, m.cfg.LogDir}
	if m.cfg.StagingDir != "" {
		places = append(places, joinName(m.cfg.StagingDir, "artifacts"), joinName(m.cfg.StagingDir, "jobs"))
	}
	return places
}

// sweepEvery sweeps now and then until ctx, that of a lead, ends.
func (m *Master) sweepEvery(ctx context.Context) {
	tick := time.NewTicker(m.cfg.SweepInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := m.sweep(ctx); err != nil && ctx.Err() == nil {
			m.cfg.Logger.Warn("what old jobs have left stays", "error", err)
		}
	}
}

func (m *Master) sweep(ctx context.Context) error {
	used, err := query(ctx, m, func() (map[string]bool, error) { return m.usedNames(), nil })
	if err != nil {
		return err
	}
	var faults []error
	for _, place := range m.sweepDirs() {
		if place != "" {
			faults = append(faults, m.sweepDir(ctx, place, used))
		}
	}
	return errors.Join(faults...)
}

// usedNames are the last elements of the names that jobs in the state use.
func (m *Master) usedNames() map[string]bool {
	used := make(map[string]bool)
	for j := range m.view.Jobs() {
		spec := m.specOf(j)
		used[j.ID.String()] = true
		used[j.ID.String()+".jsonl"] = true
		used[path.Base(spec.Binary)] = true
		used[path.Base(path.Dir(spec.SplitsPath))] = true
	}
	return used
}

// specOf is what a job's client submitted.
func (m *Master) specOf(j *cluster.Job) *wire.JobSpec {
	if r := m.records[j.ID]; r != nil {
		return r.spec
	}
	spec := new(wire.JobSpec)
	_ = proto.Unmarshal(j.Spec.Document, spec) // checked at submission
	return spec
}

func (m *Master) sweepDir(ctx context.Context, place string, used map[string]bool) error {
	fsys, dir, err := m.cfg.Resolve(ctx, place)
	if err != nil {
		return err
	}
	entries, err := fsys.List(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	faults := []error{err}
	for _, e := range entries {
		if !used[path.Base(e.Path)] && m.expired(e) {
			faults = append(faults, fsys.Remove(ctx, e.Path, true))
		}
	}
	return errors.Join(faults...)
}

// expired reports whether an entry may go. Hidden names belong to somebody else, but
// for what a client has left that died while it staged a program.
func (m *Master) expired(e storage.FileInfo) bool {
	name := path.Base(e.Path)
	return (!strings.HasPrefix(name, ".") || partProgram.MatchString(name)) && m.cfg.Now().Sub(e.ModTime) > m.cfg.Retention
}

// partProgram matches the name of a program while it is written: its hash and
// something random.
var partProgram = regexp.MustCompile(`^\.[0-9a-f]{64}\.[A-Z2-7]+$`)
