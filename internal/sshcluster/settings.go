package sshcluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/hostfile"
)

// settings returns all settings of a host's daemon: those that the plan decides, and those of
// the hostfile. A setting of the hostfile that the plan decides is an error, except for
// "http" and the slots.
func (p *Plan) settings(h *Host, role string) (map[string]string, error) {
	decided := p.jobmasterSettings(h)
	given := h.jobmasterSettings
	if role == hostfile.Tasknode {
		decided, given = p.tasknodeSettings(h), h.tasknodeSettings
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := decided[name]; ok && name != "http" && !strings.HasSuffix(name, "-slots") {
			errs = append(errs, fmt.Errorf("%s: %s.%s is not for hostfiles; 'hammr cluster' sets it", h.Name, role, name))
		}
		decided[name] = given[name]
	}
	return decided, errors.Join(errs...)
}

func (p *Plan) jobmasterSettings(h *Host) map[string]string {
	s := p.commonSettings(h, hostfile.Jobmaster)
	var masters []string
	for _, other := range p.Hosts {
		if other.Jobmaster != "" {
			masters = append(masters, other.Jobmaster+"="+other.MasterAddress())
		}
	}
	s["id"] = h.Jobmaster
	s["masters"] = strings.Join(masters, ",")
	s["address"] = join(h.Listen, h.Port)
	s["http"] = h.page(jobmasterPagePort)
	if p.Staging != "" {
		s["staging"] = p.Staging
	} else if p.HadoopConf == "" { // there is one machine
		s["staging"] = "file://" + path.Join(h.Dir, "staging")
	}
	return s
}

func (p *Plan) tasknodeSettings(h *Host) map[string]string {
	s := p.commonSettings(h, hostfile.Tasknode)
	s["name"] = h.Name
	s["masters"] = strings.Join(p.Masters(), ",")
	s["address"] = join(h.Listen, h.Port+tasknodePort)
	s["advertise"] = join(h.Address, h.Port+tasknodePort)
	s["http"] = h.page(tasknodePagePort)
	s["map-slots"] = strconv.Itoa(h.Slots)
	s["reduce-slots"] = strconv.Itoa(max(1, h.Slots/2))
	return s
}

// commonSettings returns the settings that both daemons have.
func (p *Plan) commonSettings(h *Host, role string) map[string]string {
	file := path.Join(h.Dir, role)
	s := map[string]string{"cluster-id": p.ClusterID, "dir": file, "token-file": path.Join(h.etc, "token")}
	if h.units != "yes" { // systemd has the log, and knows when a daemon is ready
		s["ready-file"], s["log-file"] = file+".ready", file+".log"
	}
	return s
}

// page returns the address of a daemon's page: on the loopback device, unless the daemons of
// the host listen at one address.
func (h *Host) page(distance int) string {
	if h.Listen == "" {
		return join("127.0.0.1", h.Port+distance)
	}
	return join(h.Listen, h.Port+distance)
}

// settingsFile returns settings as the YAML file of a daemon. Text in JSON is YAML too.
func settingsFile(settings map[string]string) (string, error) {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value, err := json.Marshal(settings[name])
		if err != nil {
			return "", fmt.Errorf("setting %s: %w", name, err)
		}
		fmt.Fprintf(&b, "%s: %s\n", name, value)
	}
	return b.String(), nil
}
