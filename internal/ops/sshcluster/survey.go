package sshcluster

import (
	"errors"
	"strconv"
	"strings"
)

// survey is what a machine has, as the function survey of script.sh describes it.
type survey struct {
	os, arch, user string
	cpus, memory   int               // memory in MiB
	dir            string            // directory of the cluster
	units          string            // yes if units of systemd run the daemons, else no
	etc            string            // directory of the token and the settings
	missing        []string          // tools
	free           int64             // bytes on the disk of dir
	state          string            // absent, cluster, foreign, not owned or not writable
	machine        string            // machine of a hostfile that uses dir; "" for none
	clusterID      string            // cluster that uses dir; "" for none
	program, token string            // SHA-256 of files; "" if there is none
	jars           map[string]string // hashes of sets of Hadoop's jars; "" for none
	java           bool              // it has a Java runtime
	upgrading      bool              // its tasknode is drained for an upgrade
	suspended      []string          // jobs that a stop has suspended
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

// answer has the values of a survey by key, in their order. A login of the machine may print lines
// of its own before: unknown keys are ignored, and the last value of a key counts.
type answer map[string][]string

func (a answer) last(key string) string {
	values := a[key]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// parseSurvey reads the output of the function survey.
func parseSurvey(text string) (*survey, error) {
	a := make(answer)
	for text != "" && len(a["hosts"]) == 0 {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if key, value, ok := strings.Cut(line, "="); ok {
			a[key] = append(a[key], value)
		}
	}
	s := &survey{
		os: a.last("os"), arch: a.last("arch"), user: a.last("user"),
		dir: a.last("dir"), units: a.last("units"), etc: a.last("etc"), missing: a["missing"],
		state: a.last("state"), machine: a.last("machine"), clusterID: a.last("cluster"),
		program: a.last("program"), token: a.last("token"), jars: map[string]string{hdfsJars: a.last(hdfsJars), yarnJars: a.last(yarnJars)}, java: len(a["java"]) > 0,
		upgrading: len(a["upgrading"]) > 0, suspended: strings.Fields(a.last("suspended")),
		daemons: make(map[string]DaemonStatus), hostfile: text, // the rest
	}
	if s.dir == "" || s.state == "" || s.etc == "" {
		return nil, errors.New("incomplete answer; is the shell of its user a POSIX shell?")
	}
	var err error
	number := func(key string) int {
		if len(a[key]) == 0 {
			return 0
		}
		n, failed := strconv.Atoi(a.last(key))
		err = errors.Join(err, failed)
		return n
	}
	s.cpus, s.memory, s.free = number("cpus"), number("memory"), int64(number("free"))<<10
	for _, role := range startOrder {
		if state := a.last(role + ".state"); state != "" {
			s.daemons[role] = DaemonStatus{State(state), number(role + ".pid"), a.last(role + ".program"), a.last(role + ".version")}
		}
	}
	return s, err
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
