package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// cgroup is the control group below which each task gets its own. In version 1 it lies in
// the hierarchy of the memory controller.
//
//	Config.Cgroup/               cgroup: no process of its own, as version 2 demands
//	  attempt_…_m_000000_0/      taskCgroup: the process and all that it starts, with limits
//	  attempt_…_m_000001_0/
type cgroup struct {
	dir     string
	version int // cgroup version: 1 or 2
}

// openCgroup opens a control group that the daemon may use, and removes the groups that an
// earlier daemon left below it. It keeps the groups of processes that were handed over.
func openCgroup(dir string, handedOver map[string]bool) (*cgroup, error) {
	c := &cgroup{dir: dir}
	switch {
	case exists(filepath.Join(dir, "cgroup.controllers")):
		c.version = 2
		if err := c.write("cgroup.subtree_control", cgroupControllers); err != nil {
			return nil, fmt.Errorf("cgroup %s: memory cannot be given to groups below; the group must be delegated and hold no process itself: %w", dir, err)
		}
	case exists(filepath.Join(dir, "memory.limit_in_bytes")):
		c.version = 1
	default:
		return nil, fmt.Errorf("cgroup %s: neither a control group of version 2 nor one of version 1 for memory", dir)
	}
	return c, c.sweep(handedOver)
}

// existingGroup returns a group that the program before this one has made for a process.
func existingGroup(dir string) (*taskCgroup, error) {
	g := &taskCgroup{cgroup{dir: dir, version: 1}}
	if exists(filepath.Join(dir, "cgroup.controllers")) {
		g.version = 2
	}
	if !exists(dir) {
		return nil, fmt.Errorf("cgroup %s of a process that was handed over: %w", dir, fs.ErrNotExist)
	}
	return g, nil
}

// groups returns the directories of the groups of processes.
func (h *Handover) groups() map[string]bool {
	dirs := make(map[string]bool)
	if h != nil {
		for _, p := range h.Processes {
			dirs[p.Cgroup] = true
		}
	}
	return dirs
}

// sweep kills the tasks of an earlier daemon and removes their groups, except for some.
func (c *cgroup) sweep(except map[string]bool) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if e.IsDir() && !except[filepath.Join(c.dir, e.Name())] {
			g := &taskCgroup{cgroup{dir: filepath.Join(c.dir, e.Name()), version: c.version}}
			g.kill()
			errs = append(errs, g.remove())
		}
	}
	return errors.Join(errs...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (c *cgroup) write(file, text string) error {
	return os.WriteFile(filepath.Join(c.dir, file), []byte(text), 0o644)
}

// taskCgroup is the control group of one process. If it is nil, there is no group, and its
// methods do nothing.
type taskCgroup struct{ cgroup }

// newGroup makes the group of a task and sets the limits.
func (c *cgroup) newGroup(name string, l limits) (*taskCgroup, error) {
	g := &taskCgroup{cgroup{dir: filepath.Join(c.dir, name), version: c.version}}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	for _, f := range l.cgroupFiles(g.version) {
		if err := g.write(f.name, f.text); err != nil && !f.optional {
			return nil, errors.Join(err, g.remove())
		}
	}
	return g, nil
}

// enterAtStart makes a process start in the group. Only version 2 supports that.
func (g *taskCgroup) enterAtStart(attr *syscall.SysProcAttr) (leave func(), err error) {
	if g == nil || g.version != 2 {
		return func() {}, nil
	}
	dir, err := os.Open(g.dir)
	if err != nil {
		return nil, err
	}
	attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd())
	return func() { dir.Close() }, nil
}

// add moves a process that has just started into a group of version 1.
func (g *taskCgroup) add(pid int) error {
	if g == nil || g.version == 2 {
		return nil
	}
	return g.write("cgroup.procs", strconv.Itoa(pid))
}

// ranOutOfMemory reports whether the kernel killed a process of the group because of
// its memory limit.
func (g *taskCgroup) ranOutOfMemory() bool {
	if g == nil {
		return false
	}
	file := "memory.events"
	if g.version == 1 {
		file = "memory.oom_control"
	}
	data, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		if count, found := bytes.CutPrefix(bytes.TrimSpace(line), []byte("oom_kill ")); found {
			return string(count) != "0"
		}
	}
	return false
}

// kill looks this often for processes that were started while it killed others.
const (
	killRounds   = 100
	killInterval = 5 * time.Millisecond
)

// kill kills all processes of the group, including processes that have left the task's
// process group.
func (g *taskCgroup) kill() {
	if g == nil {
		return
	}
	for range killRounds {
		pids := g.processes()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(killInterval)
	}
}

// processes returns the ids of the processes in the group. It returns none if the group
// cannot be read, because then the group has been removed.
func (g *taskCgroup) processes() (pids []int) {
	data, err := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	for _, field := range bytes.Fields(data) {
		if pid, err := strconv.Atoi(string(field)); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// remove removes the group. It retries, because the kernel takes some time until the group
// counts as empty.
func (g *taskCgroup) remove() (err error) {
	if g == nil {
		return nil
	}
	for range killRounds {
		err = os.Remove(g.dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		time.Sleep(killInterval)
	}
	return err
}
