// Package faultrpc sends the faults of drills to a daemon. It has the client and the handler
// of the service Drills in internal/rpc/wire.
//
//	mux.Handle(faultrpc.Path, faultrpc.NewHandler(config))     // in a daemon
//	err := faultrpc.NewClient(token).SlowDisk(ctx, "n1:7081", 20*time.Millisecond)
//
// Every daemon serves these calls at the address of its page. It refuses callers without the
// cluster's token, and refuses all faults unless it was started with --drills. The package
// starts no goroutines.
package faultrpc
