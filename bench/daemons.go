package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// daemons are the processes of the cluster that a contest has started.
type daemons struct {
	masters, tasknodes []process
}

// process is one daemon, as cluster.json tells of it.
type process struct {
	Address string
	PID     int
}

// daemonsOf reads which daemons the cluster in dir has.
func daemonsOf(dir string) (*daemons, error) {
	var state struct{ Masters, Tasknodes []process }
	if err := readJSON(filepath.Join(dir, "cluster.json"), &state); err != nil {
		return nil, fmt.Errorf("daemons of the cluster: %w", err)
	}
	return &daemons{state.Masters, state.Tasknodes}, nil
}

// addresses are those of the masters.
func (d *daemons) addresses() string {
	var all []string
	for _, m := range d.masters {
		all = append(all, m.Address)
	}
	return strings.Join(all, ",")
}

// Usage is what the daemons of a cluster took while a command ran.
type Usage struct {
	// MasterShare is what the busiest master took of a core.
	MasterShare float64 `json:"masterShare"`
	// CPUSeconds is what all masters took, and all tasknodes with those tasks
	// whose processes have ended.
	CPUSeconds float64 `json:"cpuSeconds"`
}

// measureUsage begins to measure. What it returns ends that.
func (d *daemons) measureUsage() (end func() (*Usage, error)) {
	start := time.Now()
	before, err := d.cpu()
	return func() (*Usage, error) {
		if err != nil {
			return nil, err
		}
		after, err := d.cpu()
		if err != nil {
			return nil, err
		}
		var u Usage
		for i := range after {
			took := after[i] - before[i]
			u.CPUSeconds += took.Seconds()
			if i < len(d.masters) {
				u.MasterShare = max(u.MasterShare, took.Seconds()/time.Since(start).Seconds())
			}
		}
		return &u, nil
	}
}

// cpu is what each daemon has taken so far, masters first.
func (d *daemons) cpu() (all []time.Duration, err error) {
	for _, p := range append(d.masters[:len(d.masters):len(d.masters)], d.tasknodes...) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
		if err != nil {
			return nil, fmt.Errorf("CPU time of a daemon: %w", err)
		}
		all = append(all, cpuIn(stat))
	}
	return all, nil
}

// clockTick is the unit of CPU time in /proc, the same on all of Linux.
const clockTick = 10 * time.Millisecond

// cpuIn reads a process's line in /proc: CPU time of itself and of its children
// that have ended. It is 0 for another text.
func cpuIn(stat []byte) (sum time.Duration) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return 0
	}
	for _, f := range fields[11:15] { // utime, stime, cutime, cstime
		ticks, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0
		}
		sum += time.Duration(ticks) * clockTick
	}
	return sum
}
