package tasknode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Adopter is a Launcher that continues with the tasks of the program before it.
type Adopter interface {
	Launcher
	// Adopt returns the task of an attempt that was handed over. When ctx ends, the task is
	// killed. An attempt is adopted only once.
	Adopt(ctx context.Context, attempt string) (Task, error)
}

// restoreHandover continues with what an earlier program has handed over. The loop has not begun, so
// the tables may be changed.
//
// If the state of an attempt cannot be used, its task is killed and the attempt ends. That does
// not count as a try of its task.
func (d *Daemon) restoreHandover(ctx context.Context, h *Handover) error {
	adopter, is := d.cfg.Launcher.(Adopter)
	if !is {
		return errors.New("tasknode: the launcher cannot continue with tasks")
	}
	d.restores = h.Restores
	for id, job := range h.Known {
		d.addKnown(job, id)
	}
	maps.Copy(d.retained, h.Retained)
	for id, encoded := range h.Unacked {
		last := new(wire.Report)
		if err := proto.Unmarshal(encoded, last); err != nil {
			return fmt.Errorf("handed over report of %s: %w", id, err)
		}
		d.unacked[id] = last
	}
	for _, id := range slices.Sorted(maps.Keys(h.Jobs)) {
		d.restoreJob(id, h.Jobs[id])
	}
	for i := range h.Attempts {
		if err := d.restoreAttempt(ctx, adopter, &h.Attempts[i]); err != nil {
			return err
		}
	}
	for id, kind := range h.Stuck {
		task, err := adopter.Adopt(ctx, id)
		if err != nil {
			continue // its process has ended
		}
		d.loseSlotOf(ctx, id, taskproc.Kind(kind), task)
	}
	for id, j := range d.jobs {
		if j.removed && j.busy == 0 {
			d.continueRemoval(id, j)
		}
	}
	return nil
}

// restoreJob restores a job. If it was being removed, its removal begins again.
func (d *Daemon) restoreJob(id string, h JobHandover) {
	j := d.job(id)
	j.logDir, j.diskLimit, j.removed = h.LogDir, h.DiskLimit, h.Removed
	for edge, attempts := range h.Outputs {
		w := j.outputsOf(edge)
		w.replaced = make(map[string]bool)
		for _, a := range attempts {
			w.replaced[a] = true
		}
	}
}

// restoreAttempt continues with an attempt that runs.
func (d *Daemon) restoreAttempt(ctx context.Context, adopter Adopter, h *AttemptHandover) error {
	start := new(taskproc.Start)
	if err := proto.Unmarshal(h.Start, start); err != nil {
		return fmt.Errorf("handed over start of an attempt: %w", err)
	}
	last := new(taskproc.FromTask)
	if err := proto.Unmarshal(h.Last, last); err != nil {
		return fmt.Errorf("handed over message of %s: %w", start.AttemptId, err)
	}
	j := d.job(start.JobId)
	a := newAttempt(d, start, j.readsOf(start))
	a.preemptions, a.declines = h.Preemptions, h.Declines
	a.suspension.orders, a.suspension.answered = h.SuspendOrders, h.SuspendAnswered
	a.suspension.ordered, a.suspension.suspended = h.SuspendOrdered, h.Suspended
	if h.Failed != "" {
		a.failed = errors.New(h.Failed)
	}
	if h.Killed {
		a.killOnce.Do(func() { close(a.killed) })
	}
	conn := new(taskConn)
	if h.Greeted {
		conn.speaks.Store(max(h.Speaks, 1))
	}
	if len(h.Last) > 0 {
		conn.lastMessage = last
	}
	d.attempts[start.AttemptId] = a
	d.counts.resume(a)
	release := d.cfg.DirChooser.Add(filepath.Dir(taskdir.JobDir(start.LocalDir)))
	d.follow(ctx, a, release, func(ctx context.Context) { a.conclude(ctx, a.adopt(ctx, adopter, conn, h)) })
	return nil
}

// adopt follows a task that was handed over, and returns the final report.
func (a *attempt) adopt(ctx context.Context, adopter Adopter, conn *taskConn, h *AttemptHandover) *wire.Report {
	ctx, force := context.WithCancel(ctx)
	defer force()
	task, err := adopter.Adopt(ctx, a.start.AttemptId)
	if err != nil {
		cause := fmt.Sprintf("tasknode %s was restarted and could not continue with the task: %v", a.cfg.Name, err)
		return &wire.Report{Report: &wire.Report_Exited_{Exited: &wire.Report_Exited{Cause: cause}}}
	}
	a.suspension.setTask(task)
	conn.conn = taskproc.ContinueTasknodeEnd(task.Conn(), h.Received, h.Unsent)
	return a.follow(ctx, force, task, conn.begin(a))
}
