package bench

import (
	"fmt"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// daemons has the processes of the cluster that a contest has started. Their CPU time is
// measured; memory is measured for the commands only.
type daemons struct {
	cluster *testcluster.Cluster
	pids    []int // of the masters, then of the tasknodes
	masters int   // number of masters
}

// daemonsOf finds the processes of a cluster. A daemon without a process is an error, since
// its cost would be missing.
func daemonsOf(c *testcluster.Cluster) (*daemons, error) {
	masters, tasknodes := c.Names()
	d := &daemons{cluster: c, masters: len(masters)}
	for _, name := range slices.Concat(masters, tasknodes) {
		p, err := c.Process(name)
		if err != nil {
			return nil, err
		}
		d.pids = append(d.pids, p.PID)
	}
	return d, nil
}

// Usage is the CPU time that the daemons of a cluster used while a command ran.
//
// Times are differences of counters in /proc, whose unit is 10 ms.
type Usage struct {
	// MasterShare is the fraction of a core that the busiest master used.
	MasterShare float64 `json:"masterShare"`
	// CPUSeconds is the CPU time of all masters, and of all tasknodes with their tasks that
	// have ended.
	CPUSeconds float64 `json:"cpuSeconds"`
}

// measureUsage starts a measurement and returns a function that ends it. CPU time in /proc
// has a resolution of 10 ms, so contests with few tasks show little.
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
			if i < d.masters {
				u.MasterShare = max(u.MasterShare, took.Seconds()/time.Since(start).Seconds())
			}
		}
		return &u, nil
	}
}

// cpu returns the CPU time that each daemon has used so far, masters first. Children that
// still run are not included, so usage is taken after the jobs.
func (d *daemons) cpu() (all []time.Duration, err error) {
	for _, pid := range d.pids {
		p, err := procfs.Find(pid)
		if err != nil {
			return nil, fmt.Errorf("CPU time of a daemon: %w", err)
		}
		all = append(all, p.CPU+p.Children)
	}
	return all, nil
}
