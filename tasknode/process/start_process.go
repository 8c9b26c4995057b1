package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// start starts the process of a child with its first task. The kernel kills the process when
// the thread that started it ends. So the thread of starter starts it, because that thread
// lives as long as the launcher.
func (c *child) start(ctx context.Context, starter *procfs.Starter, t *task) error {
	w, err := t.connect()
	if err == nil && c.tasksLeft != 1 {
		c.next, w.next, err = taskproc.NewNextTask()
	}
	defer w.close()
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	if err := starter.Start(func() error { return c.startProcess(ctx, t, w.files()) }); err != nil {
		return t.explain(err)
	}
	return nil
}

// busyTimeout is how long a program may be "busy" (ETXTBSY). Its file was just written, and
// a process that was forked during the write has the file open until it calls exec.
const busyTimeout = time.Second

// startProcess starts the process with files as descriptors 0, 1, and so on. If it returns
// an error, there is no process.
//
// Descriptors are inherited in order: 0 to 2 are the standard descriptors, then come
// controlFD and nextFD.
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
		_, _, _ = c.collect() // kills the process
		return err
	}
	c.tasks, c.tasksLeft = 1, c.tasksLeft-1
	c.mu.task, t.child = t, c
	return nil
}

// preferAsVictim makes the kernel kill a task rather than a daemon when the machine runs out
// of memory. The kernel may refuse that.
func (c *child) preferAsVictim() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", c.pid), []byte("500"), 0)
}
