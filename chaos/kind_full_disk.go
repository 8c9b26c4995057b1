package chaos

import "context"

// fullDisk takes all disk space of a tasknode's directory. Its attempts fail when they
// write, and the tasknode takes no tasks below its required free space. In the simulator
// attempts fail that are about to publish their output or to write a checkpoint.
var fullDisk = KindSpec{
	Kind: FullDisk, Targets: []Role{Tasknode}, Lasts: true,

	Inject:    func(_ context.Context, lab Lab, _ Fault, daemon string) error { return lab.FillDisk(daemon) },
	Undo:      func(_ context.Context, lab Lab, _ Fault, daemon string) error { return lab.FreeDisk(daemon) },
	NeedsDisk: true, NotOnHosts: notIsolated,

	Effect: func(Fault, Hit) Effect { return Effect{Fail: "no space left on device"} },
}
