package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/minihdfs"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// trial is the failures under one policy.
type trial struct {
	program, dir, policy string
	hdfs                 *minihdfs.Cluster
	homes                []map[string]bool // hosts of each file of the input

	rig *rig.Rig
}

// run has machines fail, in turn while maps run and while reduces do.
func (b *trial) run(ctx context.Context, kills int) (err error) {
	dir := filepath.Join(b.dir, strings.ReplaceAll(b.policy, "+", "-"))
	b.rig, err = rig.Start(ctx, rig.Config{Dir: dir, Hammr: b.program, Tasknodes: nodes, HDFS: b.hdfs})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.rig.Close()) }()
	if err := b.rig.Client().SetPolicy(ctx, b.policy, nil); err != nil {
		return err
	}
	for _, s := range []scene{maps(b.hdfs.URI()), reduces()} {
		var all waits
		for n := range kills {
			if err := b.fail(ctx, s, &all); err != nil {
				return fmt.Errorf("failure %d of %ss: %w", n+1, s.what, err)
			}
		}
		fmt.Println(all.row(b.policy, s.what))
	}
	return nil
}

// fail fills the cluster, kills the tasknode that has most of the tasks with the
// better claim, and waits until these run again.
func (b *trial) fail(ctx context.Context, s scene, all *waits) (err error) {
	var ids []string
	defer func() { err = errors.Join(err, b.restore(ctx, ids)) }()
	for _, job := range []job{s.better, s.lesser} {
		id, err := b.submit(ctx, job)
		if err != nil {
			return err
		}
		ids = append(ids, id)
		err = b.await(ctx, "tasks that run of "+id, id, func(j *wire.JobStatus) bool { return len(running(j, s.kind)) >= job.tasks })
		if err != nil {
			return err
		}
	}
	j, err := b.rig.Client().Job(ctx, ids[0], true)
	if err != nil {
		return err
	}
	victim := mostOf(running(j, s.kind))
	at := time.Now().UnixMilli()
	if err := b.rig.Kill(ctx, victim); err != nil {
		return err
	}
	return b.await(ctx, "recovery of "+ids[0], ids[0], func(j *wire.JobStatus) bool {
		return all.add(j, victim, at, b.local(s.kind))
	})
}

// restore ends jobs and makes the cluster whole.
func (b *trial) restore(ctx context.Context, ids []string) error {
	for _, id := range ids {
		_ = b.rig.Client().Kill(ctx, id, "enough") // it may be done
	}
	for _, id := range ids {
		if err := b.await(ctx, "end of "+id, id, func(j *wire.JobStatus) bool { return j.FinishTime > 0 }); err != nil {
			return err
		}
	}
	_, names := b.rig.Names()
	return b.rig.Start(ctx, names...)
}

// local tells whether a tasknode has the input of a task; nil says that this is
// nowhere in particular.
func (b *trial) local(kind taskproc.Kind) func(task int, node string) bool {
	if kind != taskproc.Kind_MAP {
		return nil
	}
	return func(task int, node string) bool {
		var n int
		fmt.Sscanf(node, "n%d", &n)
		return b.homes[task][b.hdfs.Host(n-1)]
	}
}

// submit hands in a job and returns its id.
func (b *trial) submit(ctx context.Context, j job) (string, error) {
	args := append([]string{"run", j.args[0], "--detach"}, j.args[1:]...)
	if j.writes {
		out, err := os.MkdirTemp(b.dir, "out")
		if err != nil {
			return "", err
		}
		args = append(args, filepath.Join(out, "files"))
	}
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Env = append(os.Environ(), b.rig.Environ()...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	id, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("hammr %s: %w\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return strings.TrimSpace(string(id)), nil
}

// patience is how long anything may take.
const patience = 2 * time.Minute

// await looks at a job until cond holds.
func (b *trial) await(ctx context.Context, what, id string, cond func(j *wire.JobStatus) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("never: %s", what))
	defer cancel()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		j, err := b.rig.Client().Job(ctx, id, true)
		if err != nil {
			return err
		}
		if cond(j) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C:
		}
	}
}
