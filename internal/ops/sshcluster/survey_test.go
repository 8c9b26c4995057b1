package sshcluster

import (
	"os"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

const goodSurvey = `Welcome to a1=the machine
os=Linux
arch=x86_64
user=ada
cpus=8
dir=/data/x=y
units=no
etc=/data/x=y
missing=gzip
free=1000
state=cluster
cluster=7
machine=a1
program=abc
token=def
upgrading=true
jobmaster.state=running
jobmaster.pid=11
jobmaster.program=abc
jobmaster.version=hammr v1 (go)
tasknode.state=stopped
motd.color=red
suspended=job_1 job_2 
hosts=2
* cluster-id=7
a1 roles=tasknode
`

func TestParseSurvey(t *testing.T) {
	s, err := parseSurvey(goodSurvey)
	must.Do(t, err)
	if s.dir != "/data/x=y" || s.cpus != 8 || s.free != 1024000 || s.clusterID != "7" || !s.upgrading || strings.Join(s.suspended, "+") != "job_1+job_2" ||
		s.hostfile != "* cluster-id=7\na1 roles=tasknode\n" || s.missing[0] != "gzip" {
		t.Errorf("%+v", s)
	}
	if d := s.daemon("jobmaster"); d != (DaemonStatus{Running, 11, "abc", "hammr v1 (go)"}) || !s.runs("jobmaster") {
		t.Errorf("%+v", d)
	}
	if s.daemon("tasknode").State != Stopped || s.runs("tasknode") {
		t.Errorf("%+v", s.daemons)
	}
	for _, text := range []string{"", "This account is not available.", "os=Linux\n", strings.Replace(goodSurvey, "cpus=8", "cpus=many", 1)} {
		if _, err := parseSurvey(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if s, err := parseSurvey("dir=/x\netc=/x\nstate=absent\n"); err != nil || s.daemon("tasknode").State != Absent {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestJobsOfRoot compares which tasknodes refuse jobs of root.
func TestJobsOfRoot(t *testing.T) {
	for _, c := range []struct {
		user, jobUser string
		settings      map[string]string
		refused       bool
	}{
		{"root", "root", nil, true},
		{"root", "root", map[string]string{"own-user": "false"}, true},
		{"root", "root", map[string]string{"own-user": "true"}, false},
		{"root", "root", map[string]string{"min-uid": "0", "banned-users": "bin"}, false},
		{"root", "ada", nil, false},
		{"ada", "root", nil, false},
		{"root", "", nil, false},
	} {
		err := checkJobUser(&Host{Name: "a1"}, c.user, c.jobUser, c.settings)
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "--set tasknode.own-user=true") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestCheck(t *testing.T) {
	prog := &program{hash: "abc", size: 100 << 20, arch: "amd64"}
	good := survey{os: "Linux", arch: "x86_64", user: "ada", dir: "/d", state: "absent", free: 1 << 30}
	must.Do(t, good.check(&Host{Name: "a1"}, prog))
	for want, change := range map[string]func(s *survey){
		"a1: its system is Darwin":                                  func(s *survey) { s.os = "Darwin" },
		"a1: its processor is aarch64 and the program is for amd64": func(s *survey) { s.arch = "aarch64" },
		"a1: it lacks gzip, setsid; install":                        func(s *survey) { s.missing = []string{"gzip", "setsid"} },
		"a1: /d has other files in it and no cluster":               func(s *survey) { s.state = "foreign" },
		"a1: /d is not a directory of the user ada":                 func(s *survey) { s.state = "not owned" },
		"a1: the user ada cannot make /d":                           func(s *survey) { s.state = "not writable" },
		"a1: /d is also the directory of a2":                        func(s *survey) { s.machine = "a2" },
		"a1: /d has 100 MiB free and needs 164":                     func(s *survey) { s.free = 100 << 20 },
		"a1: /d has 60 MiB free and needs 64":                       func(s *survey) { s.free, s.program = 60<<20, "abc" },
	} {
		s := good
		change(&s)
		if err := s.check(&Host{Name: "a1"}, prog); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestSSHErrors(t *testing.T) {
	for stderr, want := range map[string]string{
		"ssh: connect to host a1 port 22: Connection timed out":                               "start the machine and its sshd",
		"ssh: connect to host a1 port 22: Connection refused":                                 "start the machine and its sshd",
		"ssh: Could not resolve hostname a1: Name or service not known":                       "correct the name in the hostfile",
		"ada@a1: Permission denied (publickey).":                                              "ssh-copy-id ada@a1",
		"No ED25519 host key is known for a1\nHost key verification failed.":                  "the machine's key is not in known_hosts",
		"@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.": "the machine has another key than in known_hosts",
		"something new": "try 'ssh ada@a1'",
	} {
		if got := sshRemedy(sshFailed, stderr, "ada@a1"); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", stderr, got, want)
		}
	}
	if got := sshRemedy(1, "Permission denied", "a1"); got != "" {
		t.Errorf("an error of a script: %q", got)
	}
}

// TestProgramIsChecked checks that only programs for Linux are sent.
func TestProgramIsChecked(t *testing.T) {
	self, err := os.Executable()
	must.Do(t, err)
	if p, err := openProgram(self); err != nil || len(p.hash) != 64 || p.size == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	text := t.TempDir() + "/text"
	must.Do(t, os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755))
	for _, file := range []string{text, "/no/such"} {
		if _, err := openProgram(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func FuzzParseSurvey(f *testing.F) {
	f.Add(goodSurvey)
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseSurvey(text); err == nil && (s.dir == "" || s.state == "") {
			t.Errorf("%q is %+v", text, s)
		}
	})
}
