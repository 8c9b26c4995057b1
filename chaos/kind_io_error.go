package chaos

import "context"

// ioErrorOneOf says of how many operations one fails.
const ioErrorOneOf = 20

// ioError makes one of ioErrorOneOf operations of the daemon's own files, on a tasknode
// also those of its tasks, fail. A master that cannot write to its log ends; it is
// started again when the fault ends. In the simulator an attempt has diskOperations
// operations, so each fourth one fails.
var ioError = KindSpec{
	Kind: IOError, Targets: callable, Lasts: true,
	endsDaemon: func(f Fault) bool { return f.Target.Role == Jobmaster },

	Inject: func(ctx context.Context, lab Lab, _ Fault, daemon string) error {
		return lab.IOErrors(ctx, daemon, ioErrorOneOf)
	},
	Undo:     func(ctx context.Context, lab Lab, _ Fault, daemon string) error { return lab.IOErrors(ctx, daemon, 0) },
	InDaemon: true,

	SimulateMaster: isolateMaster,
	Effect: func(_ Fault, hit Hit) Effect {
		if hit.Number%(ioErrorOneOf/diskOperations) != 0 {
			return Effect{}
		}
		return Effect{Fail: "input/output error"}
	},
}
