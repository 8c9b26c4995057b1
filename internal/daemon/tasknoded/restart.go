package tasknoded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/tasknode"
)

// A tasknode is restarted in place: the process stays, and its program is replaced by the file
// from which it was started, which may be another version by then. So the tasks stay children of
// the process and continue. Ports stay open.
//
//	SIGUSR2 ─► the new program checks the settings (--check) ─► hand over ─► the new program runs
//	                     │ it refuses                              │ cannot
//	                     └───────────► the old program continues ◄─┘
//
// The result is recorded in a file in Config.Dir, where RequestRestart finds it.

// Limits of the steps of a restart.
const (
	checkTimeout    = 20 * time.Second // time limit for the check by the new program
	handOverTimeout = 15 * time.Second // time limit until no attempt is starting or ending
)

// restartFile is a file in the directory of a tasknode with the result of the last restart.
const restartFile = "restart.json"

// Checked is what a tasknode program finds out about settings before it runs with them.
type Checked struct {
	Name      string `json:"name"`
	Dir       string `json:"dir"`
	Handovers []int  `json:"handovers"` // versions of the handover that it reads
}

// Check checks settings as Run does before it opens anything.
func Check(cfg Config) (Checked, error) {
	d := newDaemon(cfg)
	err := d.resolve()
	if err = errors.Join(err, d.Opened.Close()); err != nil {
		return Checked{}, err
	}
	return Checked{Name: d.cfg.Name, Dir: d.cfg.Dir, Handovers: handoverVersions}, nil
}

// openRestarts makes SIGUSR2 request a restart.
func (d *Daemon) openRestarts() error {
	if d.cfg.Starter == nil {
		return nil
	}
	d.restarts = make(chan os.Signal, 1)
	signal.Notify(d.restarts, syscall.SIGUSR2)
	d.Opened.Add(func() error { signal.Stop(d.restarts); return nil })
	return nil
}

// serveRestarts restarts the tasknode when that is requested, until ctx ends.
func (d *Daemon) serveRestarts(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.restarts:
		}
		err := d.restart(ctx)
		if ctx.Err() != nil {
			return
		}
		d.cfg.Logger.Error("tasknode not restarted, it continues as before", "error", err)
		d.recordRestart(Restarted{Error: err.Error()})
	}
}

// restart replaces the program of this process. It returns only if that fails.
func (d *Daemon) restart(ctx context.Context) error {
	program, err := programFile()
	if err != nil {
		return err
	}
	if err := d.checkProgram(ctx, program); err != nil {
		return fmt.Errorf("%s cannot replace it: %w", program, err)
	}
	defer d.script.pause()()
	ctx, cancel := context.WithTimeout(ctx, handOverTimeout)
	defer cancel()
	return d.tasknode.HandOver(ctx, d.launcher.Pause, func(h *tasknode.Handover) error { return d.replace(program, h) })
}

// programFile returns the file from which this program was started, as it was named then: a link
// may point to another version by now.
func programFile() (string, error) {
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return os.Executable()
	}
	return filepath.Abs(path)
}

// checkProgram runs a program with this one's arguments and --check. It returns why the program
// cannot replace this one, nil if it can.
func (d *Daemon) checkProgram(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(slices.Clone(os.Args[1:]), "--check")...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if exit, is := errors.AsType[*exec.ExitError](err); is && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return err
	}
	var checked Checked
	if err := json.Unmarshal(out, &checked); err != nil {
		return fmt.Errorf("answer to --check: %w", err)
	}
	switch {
	case !slices.Contains(checked.Handovers, handoverVersion):
		return fmt.Errorf("it reads handovers of versions %v, and this one writes version %d; drain the tasknode, and stop and start it", checked.Handovers, handoverVersion)
	case checked.Name != d.cfg.Name || checked.Dir != d.cfg.Dir:
		return fmt.Errorf("the settings now name tasknode %s in %s, and this is %s in %s; stop and start it to change them", checked.Name, checked.Dir, d.cfg.Name, d.cfg.Dir)
	}
	return nil
}

// replace replaces the program. The tasknode and its launcher are paused.
func (d *Daemon) replace(program string, h *tasknode.Handover) error {
	if n := d.shuffle.Streams(); n > 0 {
		return fmt.Errorf("%d streams between tasks pass through this tasknode and would break; restart it when they have ended, or drain it", n)
	}
	doc := &handover{Version: handoverVersion, Tasknode: h, Listeners: make(map[string]listenerHandover)}
	doc.Staging, doc.Logs = d.directories.get()
	var kept procfs.Kept
	var err error
	if doc.Processes, err = d.launcher.HandOver(kept.Add); err != nil {
		return err
	}
	for setting, l := range map[string]struct {
		value    string
		listener syscall.Conn
	}{"address": {d.cfg.Address, d.Listener}, "http": {d.cfg.HTTP, d.Page}} {
		fd, err := kept.Add(l.listener)
		if err != nil {
			return fmt.Errorf("listener of --%s: %w", setting, err)
		}
		doc.Listeners[setting] = listenerHandover{l.value, fd}
	}
	file, err := doc.write()
	if err != nil {
		return err
	}
	defer file.Close()
	fd, err := kept.Add(file)
	if err != nil {
		return err
	}
	d.cfg.Logger.Info("tasknode restarts in place", "program", program, "attempts", len(h.Attempts))
	// Another request must not end the new program before it has set a handler.
	signal.Ignore(syscall.SIGUSR2)
	defer signal.Notify(d.restarts, syscall.SIGUSR2)
	return d.cfg.Starter.Replace(program, os.Args, append(os.Environ(), fmt.Sprintf("%s=%d", handoverVariable, fd)), &kept)
}

// Restarted is the result of a request to restart a tasknode.
type Restarted struct {
	Number   int    `json:"number"`          // of the request, from 1
	Attempts int    `json:"attempts"`        // attempts that continue
	Error    string `json:"error,omitempty"` // why the tasknode was not restarted
}
