// Package faultrpc carries the faults of drills to a daemon: both ends of the call
// that internal/wire names Drills.
//
//	mux.Handle(inject.Path, faultrpc.NewHandler(token, control))     // in a daemon
//	err := faultrpc.NewClient(token).SlowDisk(ctx, "n1:7081", 20*time.Millisecond)
//
// Every daemon answers the call at the address of its page. One that takes no part
// in drills, which is what daemons do unless they are told otherwise, refuses, and
// so does each without the cluster's token. There are no goroutines.
package faultrpc
