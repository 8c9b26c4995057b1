package sshcluster

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// survey is what a machine has, as the function survey of script.sh describes it.
type survey struct {
	os, arch, user string
	cpus           int
	dir            string   // directory of the cluster
	units          string   // yes if units of systemd run the daemons, else no
	etc            string   // directory of the token and the settings
	missing        []string // tools
	free           int64    // bytes on the disk of dir
	state          string   // absent, cluster, foreign, not owned or not writable
	machine        string   // machine of a hostfile that uses dir; "" for none
	clusterID      string   // cluster that uses dir; "" for none
	program, token string   // SHA-256 of files; "" if there is none
	jars           string   // hash of Hadoop's jars; "" if there are none
	java           bool     // it has a Java runtime
	upgrading      bool     // its tasknode is drained for an upgrade
	suspended      []string // jobs that a stop has suspended
	daemons        map[string]DaemonStatus
	hostfile       string // completed hostfile of the latest start; "" for none
}

// State is the state of a daemon as its machine sees it.
//
//	Stopped ── launch ─► Starting ── ready file ─► Running
//	   ▲                    │                         │
//	   └───────── the process ends ◄──────────────────┘
type State string

// States of daemons.
const (
	Unknown  State = "unknown"  // its machine does not answer
	Absent   State = "absent"   // it was never started on its machine
	Stopped  State = "stopped"  // it has no process
	Starting State = "starting" // it has a process and is not ready
	Running  State = "running"  // it is ready
)

// DaemonStatus describes a daemon.
type DaemonStatus struct {
	State   State
	PID     int
	Program string // SHA-256 of the program that its process runs
	Version string // line of that program
}

// parseSurvey reads the output of the function survey.
func parseSurvey(text string) (*survey, error) {
	s := &survey{daemons: make(map[string]DaemonStatus)}
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue // what the login of the machine prints
		}
		if role, what, isDaemon := strings.Cut(key, "."); isDaemon {
			if err := s.addDaemon(role, what, value); err != nil {
				return nil, err
			}
			continue
		}
		if key == "hosts" {
			s.hostfile = text
			break
		}
		if err := s.add(key, value); err != nil {
			return nil, err
		}
	}
	if s.dir == "" || s.state == "" || s.etc == "" {
		return nil, errors.New("incomplete answer; is the shell of its user a POSIX shell?")
	}
	return s, nil
}

// add adds a value. Unknown keys are lines that the login of the machine prints.
func (s *survey) add(key, value string) (err error) {
	texts := map[string]*string{
		"os": &s.os, "arch": &s.arch, "user": &s.user, "dir": &s.dir, "units": &s.units, "etc": &s.etc, "state": &s.state, "machine": &s.machine,
		"cluster": &s.clusterID, "program": &s.program, "token": &s.token, "jars": &s.jars,
	}
	if to, ok := texts[key]; ok {
		*to = value
		return nil
	}
	switch key {
	case "cpus":
		s.cpus, err = strconv.Atoi(value)
	case "free":
		s.free, err = strconv.ParseInt(value, 10, 64)
		s.free *= 1024
	case "missing":
		s.missing = append(s.missing, value)
	case "upgrading":
		s.upgrading = true
	case "java":
		s.java = true
	case "suspended":
		s.suspended = strings.Fields(value)
	}
	return err
}

// addDaemon adds a value of a daemon.
func (s *survey) addDaemon(role, what, value string) (err error) {
	if !slices.Contains(startOrder, role) {
		return nil
	}
	d := s.daemons[role]
	switch what {
	case "state":
		d.State = State(value)
	case "pid":
		d.PID, err = strconv.Atoi(value)
	case "program":
		d.Program = value
	case "version":
		d.Version = value
	}
	s.daemons[role] = d
	return err
}

// daemon returns the status of a daemon of the plan.
func (s *survey) daemon(role string) DaemonStatus {
	d, ok := s.daemons[role]
	if !ok {
		d.State = Absent
	}
	return d
}

// runs reports whether a daemon of the directory has a process.
func (s *survey) runs(role string) bool {
	state := s.daemon(role).State
	return state == Running || state == Starting
}
