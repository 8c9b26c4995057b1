package allocation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/suspend"
)

// save suspends all jobs and saves them as a new generation. The program is stopped first, so that
// it submits no further job. What was saved before stays until the new generation is complete.
func (r *runner) save(ctx context.Context) (err error) {
	begin := time.Now()
	r.program.stop()
	next := &manifest{
		Version: manifestVersion, Cluster: r.manifest.Cluster, Command: r.manifest.Command, Generation: r.manifest.Generation + 1, Job: r.cfg.Allocation.Job,
	}
	if err := r.suspend(ctx, next); err != nil {
		return err
	}
	next.SuspendMS = time.Since(begin).Milliseconds()
	dir := r.state.saved(next.Generation)
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if _, err := masterd.SaveBackup(r.backupFile(next.Generation), r.backup(ctx)); err != nil {
		return fmt.Errorf("backup of the masters: %w", err)
	}
	r.closing.Store(true)
	r.program.kill()
	if err := r.saveTasknodes(ctx, next); err != nil {
		return err
	}
	next.SavedAt, next.CopyMS = time.Now(), time.Since(begin).Milliseconds()-next.SuspendMS
	if err := r.state.write(next); err != nil {
		return err
	}
	r.manifest = next
	r.noteSaved(next)
	return r.state.clean(next.Generation)
}

// noteSaved prints what was saved.
func (r *runner) noteSaved(m *manifest) {
	var total treeInfo
	for _, t := range m.Tasknodes {
		total.Files, total.Bytes = total.Files+t.Tree.Files, total.Bytes+t.Tree.Bytes
	}
	r.note("saved %d jobs, %d files and %d bytes of %d tasknodes: %.1f s to suspend, %.1f s to save",
		len(m.Suspended), total.Files, total.Bytes, len(m.Tasknodes), float64(m.SuspendMS)/1000, float64(m.CopyMS)/1000)
}

// suspend suspends all jobs. Attempts that still run when the rest of the time is needed for
// copies lose their work: that is less than the work of all.
func (r *runner) suspend(ctx context.Context, next *manifest) error {
	before := func(ids []string) error {
		next.Suspended = append(next.Suspended, ids...)
		return nil
	}
	deadline := suspendTime(time.Now(), r.cfg.Allocation.End, r.notice, time.Duration(r.manifest.CopyMS)*time.Millisecond)
	err := suspend.All(ctx, r.admin, deadline, before, func(id string) { r.note("suspends %s", id) })
	var late *suspend.LateError
	if errors.As(err, &late) {
		r.note("%v; their work is lost, and they run again in the next allocation: begin earlier, by --save-before and the signal", err)
		err = nil
	}
	slices.Sort(next.Suspended)
	next.Suspended = slices.Compact(next.Suspended)
	return err
}

// suspendTime returns how long jobs may take to be suspended: the remaining time of the allocation
// less the time that copies are expected to take. copies is what they took the last time.
func suspendTime(now, end time.Time, notice, copies time.Duration) time.Duration {
	left := notice
	if !end.IsZero() {
		left = end.Sub(now)
	}
	reserve := max(copies*3/2, left/3)
	return max(left-reserve, minNotice/2)
}

// backup returns the function that writes a backup of the masters.
func (r *runner) backup(ctx context.Context) func(io.Writer) error {
	return func(to io.Writer) error { return r.admin.Backup(ctx, to) }
}

// saveTasknodes ends the tasknodes and copies their files, all at once. A node that has failed has
// nothing to copy: what only it has runs again.
func (r *runner) saveTasknodes(ctx context.Context, next *manifest) error {
	err := syncutil.Each(r.tasknodes, 0, func(p *placed) (err error) {
		p.saved, err = r.saveTasknode(ctx, p, r.state.saved(next.Generation))
		return err
	})
	for _, p := range r.tasknodes {
		if p.saved != nil {
			next.Tasknodes = append(next.Tasknodes, *p.saved)
		}
	}
	return err
}

// saveTasknode ends a tasknode and copies its files. It returns nil if its node has failed.
func (r *runner) saveTasknode(ctx context.Context, p *placed, dir string) (*savedTasknode, error) {
	m := r.machines[p.node]
	t := &savedTasknode{Name: p.name, Shared: r.cfg.Shared || p.saved != nil && p.saved.Shared}
	_, err := m.ask(ctx, request{Stop: p.name})
	if err == nil && !t.Shared {
		var a answer
		from := filepath.Join(r.placeOf(p.name).Link, diskDir, tasksDir)
		a, err = m.ask(ctx, request{Save: &saveRequest{From: from, To: filepath.Join(dir, p.name)}})
		t.Tree = a.Tree
	}
	select {
	case <-m.broken:
		r.note("%s is not saved, and what only it has runs again: %v", p.name, err)
		return nil, nil
	default:
		return t, err
	}
}

// report writes a report of each job, and prints how many attempts it took.
func (r *runner) report(ctx context.Context) error {
	jobs, err := docs.AllJobs.From(ctx, r.admin, docs.AllQuery{Finished: docs.Yes})
	if err != nil {
		return err
	}
	for _, j := range jobs {
		s, err := docs.Status.From(ctx, r.admin, docs.JobID{Job: j.JobID})
		if err != nil {
			return err
		}
		doc := report.FromStatus(s, s.Properties)
		if err := report.WriteFile(r.state.path("jobs", s.JobId+".json"), doc); err != nil {
			return err
		}
		r.note("%s: %s", s.JobId, attemptsText(doc))
	}
	return nil
}

// attemptsText describes the attempts of a job.
func attemptsText(doc report.Report) string {
	states := make(map[report.State]int)
	attempts := 0
	for _, t := range doc.Tasks {
		for _, a := range t.Attempts {
			states[a.State]++
			attempts++
		}
	}
	return fmt.Sprintf("%s, %d tasks in %d attempts: %d succeeded, %d were preempted, %d failed, %d were killed", doc.State, len(doc.Tasks), attempts,
		states[report.Succeeded], states[report.Preempted], states[report.Failed], states[report.Killed])
}
