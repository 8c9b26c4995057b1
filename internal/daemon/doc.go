// Package daemon has the parts that all long-running processes of a cluster need: settings
// from the command line, the environment and a file; a log; an HTTP page; fault injection;
// and a file that announces that the process is ready.
//
// A daemon lists its settings, loads them from all sources at once, and serves:
//
//	settings := daemon.Settings{daemon.String("id", &cfg.ID, "", "`name` of this master").Required(), …}
//	err := settings.Load(daemon.Sources{Flags: given, Env: os.LookupEnv, File: file})
//	page := daemon.NewPage(daemon.PageConfig{…})
//	…
//	err = daemon.WriteReady(path, daemon.Ready{…})
//
// At SIGHUP a Reloader loads the settings again. A Notifier informs a service manager such as
// systemd.
//
// A jobmaster's Port serves clients and other masters on one address. A Port and a log file
// start goroutines; the comments of Port and LogConfig describe them.
package daemon
