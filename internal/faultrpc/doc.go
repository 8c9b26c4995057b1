// Package faultrpc sends the faults of drills to a daemon: it has both ends of the service
// Drills of internal/wire.
//
//	mux.Handle(faultrpc.Path, faultrpc.NewHandler(config))     // in a daemon
//	err := faultrpc.NewClient(token).SlowDisk(ctx, "n1:7081", 20*time.Millisecond)
//
// Every daemon answers the call at the address of its page. It refuses callers without the
// cluster's token, and all faults unless it was started with --drills. There are no
// goroutines.
package faultrpc
