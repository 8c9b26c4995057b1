package sshcluster

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/launch"
)

// settings returns all settings of a host's daemon: those that the plan decides, and those of
// the hostfile. A setting of the hostfile that the plan decides is an error, except for
// "http", "initial-policy" and the slots.
func (p *Plan) settings(h *Host, role string) (launch.Settings, error) {
	decided := p.jobmasterSettings(h)
	given := h.jobmasterSettings
	if role == hostfile.Tasknode {
		decided, given = p.tasknodeSettings(h), h.tasknodeSettings
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := decided[name]; ok && name != "http" && name != "initial-policy" && !strings.HasSuffix(name, "-slots") {
			errs = append(errs, fmt.Errorf("%s: %s.%s is not for hostfiles; 'hammr cluster' sets it", h.Name, role, name))
		}
		decided[name] = given[name]
	}
	return decided, errors.Join(errs...)
}

func (p *Plan) jobmasterSettings(h *Host) launch.Settings {
	d := h.daemon(hostfile.Jobmaster)
	d.Address, d.HTTP = join(h.Listen, h.Port), h.page(jobmasterPagePort)
	c := p.cluster()
	if p.Staging == "" && p.HadoopConf == "" { // there is one machine
		c.Staging = "file://" + path.Join(h.Dir, "staging")
	}
	s := h.withFiles(d, c.Jobmaster(d))
	s["initial-policy"] = launch.InitialPolicy
	return s
}

func (p *Plan) tasknodeSettings(h *Host) launch.Settings {
	d := h.daemon(hostfile.Tasknode)
	d.Address, d.Advertise, d.HTTP = join(h.Listen, h.Port+tasknodePort), join(h.Address, h.Port+tasknodePort), h.page(tasknodePagePort)
	return h.withFiles(d, p.cluster().Tasknode(d, h.Slots, max(1, h.Slots/2)))
}

// cluster returns what the settings of all daemons have in common.
func (p *Plan) cluster() *launch.Cluster {
	c := &launch.Cluster{ID: p.ClusterID, Staging: p.Staging}
	for _, h := range p.Hosts {
		if h.Jobmaster != "" {
			c.Masters = append(c.Masters, launch.Master{ID: h.Jobmaster, Address: h.MasterAddress()})
		}
	}
	return c
}

// daemon returns a daemon of a host, without addresses.
func (h *Host) daemon(role string) launch.Daemon {
	file := path.Join(h.Dir, role)
	return launch.Daemon{Name: h.DaemonName(role), Dir: file, TokenFile: path.Join(h.etc, "token"), LogFile: file + ".log", ReadyFile: file + ".ready"}
}

// withFiles adds the files of a daemon to its settings. For its units, systemd has the log and
// knows when the daemon is ready.
func (h *Host) withFiles(d launch.Daemon, s launch.Settings) launch.Settings {
	if h.units != "yes" {
		maps.Copy(s, d.Files())
	}
	return s
}

// page returns the address of a daemon's page: on the loopback device, unless the daemons of
// the host listen at one address, or take part in drills, which call their pages.
func (h *Host) page(distance int) string {
	if h.Listen == "" && h.jobmasterSettings["drills"] != "true" && h.tasknodeSettings["drills"] != "true" {
		return join("127.0.0.1", h.Port+distance)
	}
	return join(h.Listen, h.Port+distance)
}
