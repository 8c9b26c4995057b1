package masterd

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched/pool"
)

// Reload makes the running daemon use the settings of cfg that may change: retention, finished
// jobs to keep, silence of tasknodes, limits of connections, rates and the allocation file. It
// ignores all other fields. After an error nothing has changed. It must not be called by two
// goroutines at once.
func (d *Daemon) Reload(_ context.Context, cfg Config) error {
	if cfg.AllocationFile != d.pools {
		if err := checkAllocations(cfg.AllocationFile); err != nil {
			return err
		}
	}
	d.Listener.SetLimits(cfg.Limits())
	d.calls.SetRates(cfg.rates())
	d.master.Reload(jobmaster.Reloadable{
		Retention: cfg.Retention, KeepJobs: cfg.KeepJobs, KeepTasks: cfg.KeepTasks,
		TasknodeExpiry: d.expiry(cfg.TasknodeExpiry), TasknodeForget: cfg.TasknodeForget,
		PoolFile: newPoolFile(cfg.AllocationFile, d.pools),
	})
	d.pools = cfg.AllocationFile
	return nil
}

// checkAllocations refuses an allocation file that cannot be used, "" is none. The daemon starts
// with such a file, since it may be repaired later, but a reload should report it at once.
func checkAllocations(name string) error {
	if name == "" {
		return nil
	}
	content, _, err := readAllocations(name)
	if err == nil {
		_, err = pool.Parse(name, content)
	}
	if err != nil {
		return fmt.Errorf("--allocation-file: %w", err)
	}
	return nil
}
