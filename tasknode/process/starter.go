package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/taskproc"
)

// starter starts processes, all from one thread: Linux kills a process that has
// a parent death signal when the thread that started it ends, and only a
// goroutine that is bound to its thread has a say in that.
type starter struct {
	requests chan func()
	ended    chan struct{}
}

func newStarter() *starter {
	s := &starter{requests: make(chan func()), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for request := range s.requests {
			request()
		}
	}()
	return s
}

// close waits for the goroutine. No start follows.
func (s *starter) close() {
	close(s.requests)
	<-s.ended
}

// start starts the process of a child with its first task.
func (s *starter) start(ctx context.Context, c *child, t *task) error {
	w, err := t.connect()
	if err == nil && c.tasksLeft != 1 {
		c.handover, w.handover, err = taskproc.NewHandover()
	}
	defer w.close()
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	done := make(chan error)
	s.requests <- func() { done <- c.startProcess(ctx, t, w.files()) }
	if err := <-done; err != nil {
		return t.explain(err)
	}
	return nil
}

// busyTimeout is how long a program may be "busy": its file was written a
// moment ago, and a process that is just being started still has it open.
const busyTimeout = time.Second

// startProcess starts the process with those files as descriptors 0, 1, …. When
// it fails there is none.
func (c *child) startProcess(ctx context.Context, t *task, files []*os.File) (err error) {
	attr := &os.ProcAttr{Dir: t.dir, Env: t.environ, Files: files, Sys: &syscall.SysProcAttr{
		Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: t.owner.credential(),
	}}
	leave, err := c.cgroup.enterAtStart(attr.Sys)
	if err != nil {
		return err
	}
	defer leave()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		c.process, err = os.StartProcess(t.path, []string{t.binary}, attr)
		if !errors.Is(err, syscall.ETXTBSY) || time.Since(began) > busyTimeout || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	c.pid = c.process.Pid
	c.preferAsVictim()
	if err := c.cgroup.add(c.pid); err != nil {
		_, _, _ = c.collect() // which kills it
		return err
	}
	c.tasks, c.tasksLeft = 1, c.tasksLeft-1
	c.mu.task, t.child = t, c
	return nil
}

// preferAsVictim has the kernel take a task before a daemon when the machine has
// no memory left. It is an offer that the kernel may refuse.
func (c *child) preferAsVictim() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", c.pid), []byte("500"), 0)
}
