// Package tasknoded is the tasknode's daemon: a tasknode.Daemon with its shuffle
// server, its HTTP page, its directories, its control group and its connection
// to the masters, as one process runs them.
//
// The caller makes a Config, calls EnsureDefaults, sets further fields, and calls Open:
//
//	var cfg tasknoded.Config
//	cfg.EnsureDefaults()
//	cfg.Name, cfg.Masters, cfg.Dir, cfg.TokenFile = "n1", masters, dir, tokenFile
//	d, err := tasknoded.Open(cfg)
//	…
//	err = d.Run(ctx)
//
// Run runs tasks until ctx ends, or the masters refuse this tasknode. It ends the
// tasks, closes everything it has opened and waits for its goroutines before it
// returns. Several daemons may run in one process, as they do in tests.
package tasknoded
