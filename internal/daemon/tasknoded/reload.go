package tasknoded

import (
	"cmp"
	"context"

	"github.com/hammr/hammr/tasknode"
)

// Reload makes the running daemon use the settings of cfg that may change: slots, memory, rack,
// limits of connections, free space and the health script. Without cfg.Rack it looks the rack up
// again. Slots that a master has set stay if both of their settings are as before. It ignores all other fields. After
// an error nothing has changed.
func (d *Daemon) Reload(ctx context.Context, cfg Config) error {
	rack, err := d.findRack(ctx, cfg.Rack)
	if err != nil {
		return err
	}
	if err := d.useSlots(&cfg); err != nil {
		return err
	}
	d.Listener.SetLimits(cfg.Limits())
	d.disks.SetMinFree(cfg.MinFree)
	d.script.use(d.healthSettings(&cfg))
	d.launcher.SetMaxProcesses(cfg.MapSlots + cfg.ReduceSlots)
	d.tasknode.Reload(tasknode.Offer{MapSlots: cfg.MapSlots, ReduceSlots: cfg.ReduceSlots, MemoryMB: d.taskMemoryMB(cfg.MemoryMB), Rack: rack})
	return nil
}

// healthSettings returns the settings of the health script, which the site's configuration names
// if cfg does not.
func (d *Daemon) healthSettings(cfg *Config) healthSettings {
	return healthSettings{
		script:   cmp.Or(cfg.HealthScript, d.cfg.Conf.String("hammr.tasknode.health.script")),
		interval: cfg.HealthInterval, timeout: cfg.HealthTimeout,
	}
}

// findRack returns the rack of the machine: the given one, else that of the topology table or
// script of the site's configuration.
func (d *Daemon) findRack(ctx context.Context, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	topology := tasknode.Topology{
		Table:      d.cfg.Conf.String("net.topology.table.file.name"),
		Script:     d.cfg.Conf.String("net.topology.script.file.name"),
		ScriptArgs: d.cfg.Conf.Int("net.topology.script.number.args"),
	}
	return topology.Rack(ctx, d.hosts)
}
