// Package local serves the pages of the engine that runs a job in this process. They are for reading
// only, and for browsers on this machine:
//
//	source := local.Engine(master, "local1")
//	url, stop, err := local.Serve(source, "hammr run", "127.0.0.1:0", time.Now)
package local
