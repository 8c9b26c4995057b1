// Package local serves the pages of a cluster that is in this process: an engine that runs a job
// (Engine), or a simulation (Follow). They are for reading only, and for browsers on this machine:
//
//	source := local.Engine(master, "local1")
//	url, stop, err := local.Serve(source, "hammr run", "127.0.0.1:0", time.Now)
//
// A simulation has no masters. Its entries go to a jobmaster that follows, as one of a cluster does.
package local
