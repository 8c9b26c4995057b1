package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/doctor"
	"github.com/hammr/hammr/internal/masterd"
	"github.com/hammr/hammr/internal/pattern"
	"github.com/hammr/hammr/internal/rpc"
)

// configDir has the configurations of daemons that run as services.
const configDir = "/etc/hammr"

// daemonFiles returns the files of --config; if there are none, that of the variable, or those in configDir.
func daemonFiles(configs []string) []string {
	if len(configs) > 0 {
		return configs
	}
	if file := os.Getenv("HAMMR_CONFIG"); file != "" {
		return []string{file}
	}
	var files []string
	for _, kind := range []string{doctor.Jobmaster, doctor.Tasknode} {
		if file := filepath.Join(configDir, kind+".yaml"); isFile(file) {
			files = append(files, file)
		}
	}
	return files
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// idKey matches a file that has a setting of jobmasters alone.
var idKey = pattern.New(`(?m)^id\s*:`)

// readDaemon reads the configuration of a daemon. Only the file counts: the variables of this shell are those of a
// client. Errors are in the result, since they are findings.
func readDaemon(file string, c *conf.Conf) doctor.Daemon {
	text, err := os.ReadFile(file)
	if err != nil {
		return doctor.Daemon{Source: file, Err: err}
	}
	read := readTasknode
	if idKey().Match(text) {
		read = readJobmaster
	}
	d := read(daemon.Sources{File: file}, c)
	d.Source = file
	return d
}

// minLogFree is the free space in bytes that the log of a master needs: a snapshot beside the log before it.
const minLogFree = 256 << 20

// readJobmaster reads the configuration of a jobmaster.
func readJobmaster(sources daemon.Sources, c *conf.Conf) doctor.Daemon {
	var cfg jobmasterFlags
	err := cfg.settings().Load(sources)
	if err == nil {
		err = cfg.Validate()
	}
	if cfg.Staging == "" && c != nil && err == nil {
		cfg.Staging, err = masterd.DefaultStaging(c)
	}
	d := doctor.Daemon{
		Err: err, Kind: doctor.Jobmaster, Name: cfg.ID, Address: daemon.WithDefaultPort(cfg.Address, rpc.DefaultPort), HTTP: cfg.HTTP,
		Advertise: cfg.Advertise, MaxConnections: cfg.MaxConnections, TokenFile: cfg.TokenFile, Staging: cfg.Staging,
		Drills: cfg.Drills, Profiles: cfg.Profiles,
		Dirs: []doctor.Dir{{Path: cfg.Dir, Use: doctor.LogFiles, MinFree: minLogFree, Slow: cfg.StallTimeout}},
	}
	for _, entry := range cfg.Masters {
		_, address, _ := strings.Cut(entry, "=") // Validate has checked the form
		d.Masters = append(d.Masters, daemon.WithDefaultPort(address, rpc.DefaultPort))
		// The entry of a master is what it gives to others.
		if strings.HasPrefix(entry, cfg.ID+"=") && d.Advertise == "" {
			d.Advertise = address
		}
	}
	return d
}

// readTasknode reads the configuration of a tasknode.
func readTasknode(sources daemon.Sources, c *conf.Conf) doctor.Daemon {
	var cfg tasknodeFlags
	err := cfg.settings().Load(sources)
	if err == nil {
		err = cfg.Validate()
	}
	d := doctor.Daemon{
		Err: err, Kind: doctor.Tasknode, Name: cfg.Name, Address: cfg.Address, HTTP: cfg.HTTP,
		Advertise: cfg.Advertise, MaxConnections: cfg.MaxConnections, TokenFile: cfg.TokenFile,
		Drills: cfg.Drills, Profiles: cfg.Profiles,
		Dirs:  []doctor.Dir{{Path: cfg.Dir, Use: doctor.Programs}},
		Tasks: doctor.TaskRules{Cgroup: cfg.Cgroup, OwnUser: cfg.RunAsDaemonUser, MinUID: cfg.MinUID, BannedUsers: cfg.BannedUsers},
	}
	local := cfg.LocalDirs
	if len(local) == 0 && c != nil {
		local = c.Strings(conf.LocalDir)
	}
	if len(local) == 0 {
		local = []string{cfg.Dir}
	}
	for _, dir := range local {
		d.Dirs = append(d.Dirs, doctor.Dir{Path: dir, Use: doctor.LocalFiles, MinFree: cfg.MinFree, Slow: cfg.SlowDisk})
	}
	if len(cfg.Masters) > 0 {
		masters, mastersErr := rpc.ParseMasters(strings.Join(cfg.Masters, ","))
		d.Masters, d.Err = masters, errors.Join(d.Err, mastersErr)
	}
	return d
}
