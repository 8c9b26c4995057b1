package drill

import "github.com/hammr/hammr/chaos"

func init() {
	injectors[chaos.Partition] = injector{
		inject:   func(d *drill, _ chaos.Fault) action { return immediate(d.rig.Partition) },
		undo:     func(d *drill, _ chaos.Fault) action { return immediate(d.rig.Heal) },
		silences: true,
		// A forwarder, not a network, separates a DataNode from its NameNode.
		network: func(f chaos.Fault) bool { return f.Target.Role != chaos.DataNode },
		onHosts: "its daemons have no networks and disks that are the drill's to break",
	}
}
