package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/kit/procfs"
)

// Limits of the time that a fault lasts.
const (
	DefaultFor = time.Minute
	MaxFor     = time.Hour
)

// Guard injects faults on this machine for one directory of a hostfile.
type Guard struct {
	Dir string // an absolute path, as the command lines of its daemons have it
}

// Record is a fault that is active on this machine, as its file in DIR/faults says.
type Record struct {
	ID    string
	Fault chaos.Fault
	Until time.Time      // when it ends
	Guard procfs.Process // that ends it
	Port  int            // of ssh

	Killed  []Command        // what starts again at the end
	Stopped []procfs.Process // what resumes at the end
}

func (r Record) String() string {
	text := string(r.Fault.Kind)
	if by := r.Fault.Amounts(); by != "" {
		text += " by " + by
	}
	return fmt.Sprintf("%s: %s of the %s until %s", r.ID, text, r.Fault.Target.Role, r.Until.Format(time.TimeOnly))
}

func (g Guard) faults() string              { return filepath.Join(g.Dir, "faults") }
func (g Guard) file(id, kind string) string { return filepath.Join(g.faults(), id+kind) }

// lock makes this process the only one that changes records.
func (g Guard) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(g.faults(), 0o700); err != nil {
		return nil, err
	}
	return procfs.Lock(ctx, g.file("lock", ""))
}

// records returns the faults that are active.
func (g Guard) records() (list []Record, err error) {
	files, _ := filepath.Glob(g.file("*", ".json")) // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		var r Record
		if err := errors.Join(err, json.Unmarshal(text, &r)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// save writes a record as a whole or not at all. It has the environment of what was killed.
func (g Guard) save(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	err = os.WriteFile(g.file(r.ID, ".new"), text, 0o600)
	return errors.Join(err, os.Rename(g.file(r.ID, ".new"), g.file(r.ID, ".json")))
}

// List returns the faults that are active. Those that no guard ends any more are undone first.
func (g Guard) List(ctx context.Context) (list []Record, err error) {
	unlock, err := g.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return g.reap(ctx)
}

// reap undoes the faults whose guards are gone, and returns the others. The lock is held.
func (g Guard) reap(ctx context.Context) (rest []Record, err error) {
	all, err := g.records()
	for _, r := range all {
		if procfs.StartTime(r.Guard.PID) == r.Guard.Started {
			rest = append(rest, r)
		} else {
			err = errors.Join(err, g.end(ctx, r))
		}
	}
	return rest, err
}

// Undo ends the faults with some ids, all without ids, and returns them. It returns before their
// guards have ended, which change nothing any more.
func (g Guard) Undo(ctx context.Context, ids ...string) (undone []Record, err error) {
	unlock, err := g.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := g.records()
	for _, r := range all {
		if len(ids) > 0 && !slices.Contains(ids, r.ID) {
			continue
		}
		err = errors.Join(err, g.end(ctx, r))
		undone = append(undone, r)
		if r.Guard.PID != os.Getpid() {
			err = errors.Join(err, signalAll(ctx, []procfs.Process{r.Guard}, syscall.SIGTERM))
		}
	}
	return undone, err
}

// end undoes a fault, and removes its record once that has succeeded. The lock is held.
func (g Guard) end(ctx context.Context, r Record) (err error) {
	switch {
	case chaos.SpecOf(r.Fault.Kind).Link != nil:
		err = g.applyLinks(r.Port, r.ID)
	case r.Fault.Kind == chaos.FullDisk:
		if err = os.Remove(g.file(r.ID, ".fill")); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	case r.Fault.Kind == chaos.Stop:
		err = signalAll(ctx, r.Stopped, syscall.SIGCONT)
	default:
		running := g.processes()
		for _, c := range r.Killed {
			err = errors.Join(err, c.start(running))
		}
	}
	if err != nil {
		return fmt.Errorf("end of %v: %w", r, err)
	}
	return os.Remove(g.file(r.ID, ".json"))
}

// applyLinks gives the network what all records want, except the one with an id.
func (g Guard) applyLinks(port int, except string) error {
	all, err := g.records()
	if err != nil {
		return err
	}
	var sum chaos.Link
	for _, r := range all {
		if link := chaos.SpecOf(r.Fault.Kind).Link; link != nil && r.ID != except {
			sum = sum.And(link(r.Fault))
		}
	}
	n, err := ThisMachine(port)
	if err != nil {
		return err
	}
	return n.Apply(sum)
}
