// Package daemon is what every long-running process of a cluster needs beside
// its own work: settings from the command line, the environment and a file; a
// log; a page for machines to read; and a file that says that it is ready.
//
// A daemon lists its settings, has them settled from all sources at once, and
// then serves:
//
//	settings := daemon.Settings{daemon.Text("id", &cfg.ID, "`name` of this master").Needed(), …}
//	err := settings.Settle(daemon.Sources{Flags: given, Env: os.LookupEnv, File: file})
//	page := daemon.NewPage(daemon.PageConfig{…})
//	…
//	err = daemon.WriteReady(path, daemon.Ready{…})
//
// A jobmaster's Port takes clients and other masters on one address. It starts
// goroutines, as a log in a file does; each says which.
package daemon
