package drill

import "github.com/hammr/hammr/chaos"

func init() {
	injectors[chaos.FullDisk] = injector{
		inject:  func(d *drill, _ chaos.Fault) action { return immediate(d.rig.FillDisk) },
		undo:    func(d *drill, _ chaos.Fault) action { return immediate(d.rig.FreeDisk) },
		disk:    true,
		onHosts: "its daemons have no networks and disks that are the drill's to break",
	}
}
