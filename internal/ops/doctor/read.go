package doctor

import (
	"cmp"
	"os"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/internal/kit/pattern"
	"github.com/hammr/hammr/internal/rpc"
)

// idKey matches a file that has a setting of jobmasters alone.
var idKey = pattern.New(`(?m)^id\s*:`)

// ReadDaemon reads the configuration of a daemon. Only the file counts: the variables of this shell are those of a
// client. c is the site's configuration, nil if it cannot be read. Errors are in the result, since they are findings.
func ReadDaemon(file string, c *conf.Conf) (d Daemon) {
	text, err := os.ReadFile(file)
	switch {
	case err != nil:
		d.Err = err
	case idKey().Match(text):
		d = readJobmaster(file, c)
	default:
		d = readTasknode(file, c)
	}
	d.Source = file
	return d
}

// minLogFree is the free space in bytes that the log of a master needs: a snapshot beside the log before it.
const minLogFree = 256 << 20

// readJobmaster reads the configuration of a jobmaster.
func readJobmaster(file string, c *conf.Conf) Daemon {
	var cfg masterd.Config
	err := daemon.Load(&cfg, daemon.Sources{File: file})
	if cfg.Staging == "" && c != nil && err == nil {
		cfg.Staging, err = masterd.DefaultStaging(c)
	}
	d := Daemon{
		Err: err, Kind: Jobmaster, Name: cfg.ID, Common: cfg.Common, Staging: cfg.Staging,
		Dirs: []Dir{{Path: cfg.Dir, Use: LogFiles, MinFree: minLogFree, Slow: cfg.StallTimeout}},
	}
	d.Address, d.Masters = daemon.WithDefaultPort(cfg.Address, rpc.DefaultPort), nil
	for _, m := range cfg.Peers() {
		d.Masters = append(d.Masters, m.Address)
		if m.ID == cfg.ID { // the entry of a master is what it gives to others
			d.Advertise = cmp.Or(d.Advertise, m.Address)
		}
	}
	return d
}

// readTasknode reads the configuration of a tasknode.
func readTasknode(file string, c *conf.Conf) Daemon {
	var cfg tasknoded.Config
	err := daemon.Load(&cfg, daemon.Sources{File: file})
	d := Daemon{
		Err: err, Kind: Tasknode, Name: cfg.Name, Common: cfg.Common, Tasknode: cfg,
		Dirs: []Dir{{Path: cfg.Dir, Use: Programs}},
	}
	for _, dir := range cfg.Local(c) {
		d.Dirs = append(d.Dirs, Dir{Path: dir, Use: LocalFiles, MinFree: cfg.MinFree, Slow: cfg.SlowDisk})
	}
	d.Masters = cfg.Addresses()
	return d
}
