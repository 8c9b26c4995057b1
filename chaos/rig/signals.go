package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/procfs"
)

// processLocked is a daemon of the cluster as it was started last.
func (r *Rig) processLocked(name string) (localcluster.Process, error) {
	if r.hosts != nil {
		return localcluster.Process{}, fmt.Errorf("%s runs on another machine, maybe", name)
	}
	for _, m := range r.mu.cluster.State.Masters {
		if m.ID == name {
			return m.Process, nil
		}
	}
	for _, n := range r.mu.cluster.State.Tasknodes {
		if n.Name == name {
			return n.Process, nil
		}
	}
	return localcluster.Process{}, fmt.Errorf("no daemon %q in the cluster", name)
}

// Process is a daemon's, as it was started last.
func (r *Rig) Process(name string) (localcluster.Process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.processLocked(name)
}

// Running reports whether a daemon runs, or stands still. Of a cluster that was attached
// nobody here knows, and it is so.
func (r *Rig) Running(name string) bool {
	if r.hosts != nil {
		return true
	}
	if hdfs, i, ok := r.hadoop(name); ok {
		return i < 0 && hdfs.NameNodeRuns() || i >= 0 && hdfs.DataNodeRuns(i)
	}
	p, err := r.Process(name)
	return err == nil && p.Alive()
}

// Kill ends a daemon as a crash does, and returns when it is gone. One that is
// gone is left alone.
func (r *Rig) Kill(ctx context.Context, name string) error {
	if r.hosts != nil {
		return r.killHost(ctx, name)
	}
	if hdfs, i, ok := r.hadoop(name); ok {
		if i < 0 {
			return hdfs.KillNameNode()
		}
		return hdfs.KillDataNode(i)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.processLocked(name)
	if err != nil || !p.Alive() {
		return err
	}
	if err := signal(p.PID, syscall.SIGKILL); err != nil {
		return err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for p.Alive() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("end of %s: %w", name, context.Cause(ctx))
		case <-tick.C:
		}
	}
	return nil
}

// Start starts daemons that were killed, all at once, and returns when they are
// ready. What runs is left alone.
func (r *Rig) Start(ctx context.Context, names []string) error {
	if r.hosts != nil {
		return r.startHosts(ctx, names)
	}
	var own []string
	var faults []error
	for _, name := range names {
		switch hdfs, i, ok := r.hadoop(name); {
		case !ok:
			own = append(own, name)
		case i < 0:
			faults = append(faults, hdfs.RestartNameNode(ctx))
		default:
			faults = append(faults, hdfs.RestartDataNode(ctx, i))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.closed {
		return fmt.Errorf("start of %v: the cluster has ended", names)
	}
	return errors.Join(append(faults, r.mu.cluster.Start(ctx, own...))...)
}

// Stop freezes a daemon: its ports accept, nothing answers. One that is gone is left
// alone.
func (r *Rig) Stop(name string) error { return r.freeze(name, syscall.SIGSTOP) }

// Continue ends what Stop began.
func (r *Rig) Continue(name string) error { return r.freeze(name, syscall.SIGCONT) }

func (r *Rig) freeze(name string, sig syscall.Signal) error {
	if r.hosts != nil {
		return r.freezeHost(context.Background(), name, sig)
	}
	if hdfs, i, ok := r.hadoop(name); ok {
		if !r.Running(name) {
			return nil
		}
		switch stop := sig == syscall.SIGSTOP; {
		case i < 0 && stop:
			return hdfs.StopNameNode()
		case i < 0:
			return hdfs.ContinueNameNode()
		case stop:
			return hdfs.StopDataNode(i)
		}
		return hdfs.ContinueDataNode(i)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.processLocked(name)
	if err != nil || !p.Alive() {
		return err
	}
	return signal(p.PID, sig)
}

// Tasks are the process groups of a tasknode's tasks, by the ids of their
// leaders.
func (r *Rig) Tasks(name string) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tasksLocked(name)
}

func (r *Rig) tasksLocked(name string) (pids []int) {
	p, err := r.processLocked(name)
	if err != nil || !p.Alive() {
		return nil
	}
	return children(p.PID)
}

// children are the processes that a process has started and that run.
func children(parent int) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parentOf(pid) == parent && procfs.StartTime(pid) != "" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf is the process that has started another, 0 for none.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything; the second field behind it is
	// the parent.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1]) // 0 for what is no number
	return parent
}

// SignalTask sends a signal to the process group of a task of this tasknode; one
// that is gone is no error.
func (r *Rig) SignalTask(name string, pid int, sig syscall.Signal) error {
	for _, p := range r.Tasks(name) {
		if p == pid {
			return signal(-pid, sig)
		}
	}
	return nil
}

// signal sends a signal; a process that is gone is no error.
func signal(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(pid, sig); err != nil && err != syscall.ESRCH {
		return fmt.Errorf("signal %v to process %d: %w", sig, pid, err)
	}
	return nil
}
