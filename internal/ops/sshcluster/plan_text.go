package sshcluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/conf/hostfile"
)

// Hostfile returns the plan as a list of machines that has everything the plan has chosen, so
// that the same plan follows from it. Words with a blank cannot be written there; the parser
// accepts none either.
func (p *Plan) Hostfile() string {
	var b strings.Builder
	line := func(first string, options ...string) {
		words := []string{first}
		for i := 0; i < len(options); i += 2 {
			if options[i+1] != "" {
				words = append(words, options[i]+"="+options[i+1])
			}
		}
		if len(words) > 1 {
			fmt.Fprintln(&b, strings.Join(words, " "))
		}
	}
	all := []string{hostfile.ClusterID, p.ClusterID, hostfile.Staging, p.Staging, hostfile.HadoopConf, p.HadoopConf}
	line("*", append(all, settingOptions(hostfile.Hadoop, p.hadoop)...)...)
	for _, h := range p.Hosts {
		dir := h.Dir
		if h.units == "yes" {
			dir = "" // a directory in a hostfile means that systemd does not run the daemons
		}
		options := []string{
			hostfile.Roles, strings.Join(h.Roles(), ","), hostfile.ID, h.Jobmaster, hostfile.Slots, numberText(h.Slots), hostfile.YarnMemory, numberText(h.YarnMemory),
			hostfile.Address, h.Address, hostfile.Listen, h.Listen, hostfile.Port, numberText(h.Port), hostfile.Dir, dir,
		}
		options = append(options, settingOptions(hostfile.Jobmaster, h.jobmasterSettings)...)
		options = append(options, settingOptions(hostfile.Tasknode, h.tasknodeSettings)...)
		line(h.Target, options...)
	}
	return b.String()
}

// settingOptions returns settings as pairs of an option and its value.
func settingOptions(role string, settings map[string]string) (pairs []string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		pairs = append(pairs, role+"."+name, settings[name])
	}
	return pairs
}

// numberText returns a number, "" for 0.
func numberText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
