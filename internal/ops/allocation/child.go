package allocation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/ops/launch"
)

// child is a daemon that this machine runs.
type child struct {
	*launch.Child
	ending atomic.Bool // its end was requested
}

// endTimeout is how long a daemon may take to end after SIGTERM.
const endTimeout = 15 * time.Second

// start starts a daemon and waits until it is ready, if it says when it is. It gets SIGTERM if this process ends.
func (s *server) start(ctx context.Context, q startRequest) (ready daemon.Ready, err error) {
	cmd := exec.Command(s.cfg.Program[0], slices.Concat(s.cfg.Program[1:], q.Args)...)
	cmd.Env = append(os.Environ(), q.Env...)
	cmd.SysProcAttr = launch.Attributes(false)
	c := new(child)
	if c.Child, err = launch.Start(s.cfg.Starter, q.Daemon, cmd); err != nil {
		return ready, err
	}
	s.daemons = append(s.daemons, c)
	if q.ReadyFile != "" {
		bounded, cancel := context.WithTimeoutCause(ctx, q.Timeout, fmt.Errorf("timed out after %v", q.Timeout))
		defer cancel()
		if ready, err = c.AwaitReady(bounded); err != nil {
			return ready, errors.Join(err, c.end(context.WithoutCancel(ctx)))
		}
	}
	// The answer reports a daemon that ends before it is ready. Any other that ends by itself is reported here.
	go func() {
		<-c.Exited
		if !c.ending.Load() {
			s.send(answer{Ended: c.Name, Cause: c.CauseOfEnd()})
		}
	}()
	return ready, nil
}

// stop ends a daemon.
func (s *server) stop(ctx context.Context, name string) error {
	i := slices.IndexFunc(s.daemons, func(c *child) bool { return c.Name == name })
	if i < 0 {
		return fmt.Errorf("daemon %s was not started here", name)
	}
	c := s.daemons[i]
	s.daemons = slices.Delete(s.daemons, i, i+1)
	return c.end(ctx)
}

// end ends the process, whose end is then not reported.
func (c *child) end(ctx context.Context) error {
	c.ending.Store(true)
	return c.End(ctx, endTimeout)
}
