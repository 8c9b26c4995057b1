// Package masterd is the jobmaster's daemon: a jobmaster.Master with its Raft
// log, its network port, its HTTP page and its files, as one process runs them.
//
// The caller makes a Config, calls EnsureDefaults, sets further fields, and calls Open:
//
//	var cfg masterd.Config
//	cfg.EnsureDefaults()
//	cfg.ID, cfg.Dir, cfg.TokenFile = "m1", dir, tokenFile
//	d, err := masterd.Open(cfg)
//	…
//	err = d.Run(ctx)
//
// Run serves until ctx ends, or the log fails. It transfers leadership, closes
// everything it has opened and waits for its goroutines before it returns. Several
// daemons may run in one process, as they do in tests.
package masterd
