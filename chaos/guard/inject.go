package guard

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/kit/procfs"
)

// check reports why a fault cannot be injected here. It changes nothing.
func (g Guard) check(f chaos.Fault, force bool) error {
	kind := chaos.SpecOf(f.Kind)
	switch {
	case !kind.OnMachine:
		return fmt.Errorf("%s is a fault inside of daemons; 'hammr chaos run' injects it", f.Kind)
	case f.For > MaxFor || kind.Lasts && f.For <= 0:
		return fmt.Errorf("for %v: a fault of a machine lasts for more than 0s, up to %v", f.For, MaxFor)
	case kind.Link != nil:
		return checkTools()
	case f.Kind == chaos.FullDisk && !force:
		root, err := onRootDisk(g.Dir)
		if err == nil && root {
			err = fmt.Errorf("%s: %w", g.Dir, ErrRootDisk)
		}
		return err
	}
	return nil
}

// Run injects a fault, calls applied, and undoes the fault when its time is over. It returns at
// once for a fault that does not last, and later also if another process has undone the fault. The
// end of ctx undoes it, too.
//
// force allows a full disk that is the machine's own.
func (g Guard) Run(ctx context.Context, f chaos.Fault, force bool, applied func(Record)) error {
	err := g.check(f, force)
	if err != nil {
		return err
	}
	r, err := g.inject(ctx, f)
	if err != nil {
		return err
	}
	applied(r)
	lasts := f.For
	if f.Kind == chaos.Kill && len(r.Killed) == 0 { // no task starts again
		lasts = 0
	}
	timer := time.NewTimer(lasts)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	_, err = g.Undo(context.WithoutCancel(ctx), r.ID)
	return err
}

// inject writes the record and injects the fault. If that fails, nothing is left of it.
func (g Guard) inject(ctx context.Context, f chaos.Fault) (r Record, err error) {
	unlock, err := g.lock(ctx)
	if err != nil {
		return r, err
	}
	defer unlock()
	if _, err := g.reap(ctx); err != nil {
		return r, err
	}
	self, err := procfs.Find(os.Getpid())
	if err != nil {
		return r, err
	}
	r = Record{
		ID: fmt.Sprintf("%s-%d", f.Kind, self.PID), Fault: f, Until: time.Now().Add(f.For),
		Guard: self, Port: sshPort(os.Getenv("SSH_CONNECTION")),
	}
	if f.Kind == chaos.Corrupt {
		_, err := Corrupt(filepath.Join(g.Dir, "tasknode", "tasks"), rand.IntN(1<<20))
		return r, err
	}
	var hit []procfs.Process
	if f.Kind == chaos.Kill || f.Kind == chaos.Stop {
		if hit, err = g.hit(&r); err != nil {
			return r, err
		}
	}
	if err := g.save(r); err != nil {
		return r, err
	}
	switch f.Kind {
	case chaos.Kill:
		err = signalAll(ctx, hit, syscall.SIGKILL)
	case chaos.Stop:
		err = signalAll(ctx, hit, syscall.SIGSTOP)
	case chaos.FullDisk:
		err = fill(g.file(r.ID, ".fill"))
	default:
		err = g.applyLinks(r.Port, "")
	}
	if err != nil {
		return r, errors.Join(err, g.end(context.WithoutCancel(ctx), r))
	}
	return r, nil
}

// hit returns the processes that a kill or a stop hits, and notes in the record what its end needs.
// Only daemons start again.
func (g Guard) hit(r *Record) (hit []procfs.Process, err error) {
	list, err := g.targets(r.Fault.Target.Role)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		hit = append(hit, p.Process)
		if r.Fault.Kind == chaos.Kill && p.first {
			c, err := g.commandOf(p)
			if err != nil {
				return nil, err
			}
			r.Killed = append(r.Killed, c)
		}
	}
	if r.Fault.Kind == chaos.Stop {
		r.Stopped = hit
	}
	return hit, nil
}

// sshPort returns the port of this machine's end of an ssh connection, as sshd describes it: the
// addresses and ports of both ends. Without a connection it is that of ssh by default.
func sshPort(connection string) int {
	if words := strings.Fields(connection); len(words) == 4 {
		if port, err := strconv.Atoi(words[3]); err == nil {
			return port
		}
	}
	return 22
}

// Start runs a command that injects a fault, in a session of its own, and returns the first line that
// it prints, once the fault is injected. The command runs on.
func Start(program string, args ...string) (line string, err error) {
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", err
	}
	if line, err = bufio.NewReader(out).ReadString('\n'); err == nil {
		return strings.TrimSpace(line), nil
	}
	err = cmd.Wait()
	return "", fmt.Errorf("%s (%w)", strings.TrimPrefix(strings.TrimSpace(failure.String()), "hammr: "), err)
}
