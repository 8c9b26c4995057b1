package redteam

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hammr/hammr/internal/testing/must"
)

// guides are attacks on users who follow the documents of this tree. Their commands run with programs
// of the test in place of those that reach beyond this machine.
func guides() []attack {
	return []attack{
		{"N17", "a token that is read while it is made", []string{"written with mode 600"}, readNewToken},
		{"N19", "another package at the URL of cloud-init", []string{"FAILED", "nothing was installed"}, exchangePackage},
	}
}

// tokenCommand is a line of a document that makes a token.
var tokenCommand = regexp.MustCompile(`(?m)^[ #]*([^\n]*/dev/urandom[^\n|]*\| *base64 *>[^\n]*)$`)

// readNewToken runs each command of the documents that makes a token. Its base64 notes the mode of the
// file that it writes.
func readNewToken(t *testing.T, w *world) string {
	var modes strings.Builder
	for _, name := range []string{"docs/deploy.md", "docs/cluster.md", "deploy/packages/jobmaster.yaml"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		must.Do(t, err)
		lines := tokenCommand.FindAllStringSubmatch(string(text), -1)
		if len(lines) == 0 {
			t.Errorf("%s has no command that makes a token", name)
		}
		for _, line := range lines {
			dir := t.TempDir()
			script := "umask 022\n" + strings.ReplaceAll(line[1], "/etc/hammr/", "")
			_, err := w.guide(t, dir, script, map[string]string{"base64": `stat -c %a token >&2; cat`})
			must.Do(t, err)
			mode, err := os.ReadFile(filepath.Join(dir, "stderr"))
			must.Do(t, err)
			if strings.TrimSpace(string(mode)) != "600" {
				t.Errorf("%s: %s: written with mode %s", name, line[1], mode)
			}
			fmt.Fprintf(&modes, "written with mode %s", mode)
		}
	}
	return modes.String()
}

// exchangePackage runs the download of cloud-init where curl gets another file than the one whose
// checksum the user has written.
func exchangePackage(t *testing.T, w *world) string {
	all := ""
	for _, name := range []string{"jobmaster", "tasknode"} {
		text, err := os.ReadFile(filepath.Join("../../deploy/cloud-init", name+".yaml"))
		must.Do(t, err)
		var data struct{ Runcmd [][]string }
		must.Do(t, yaml.Unmarshal(text, &data))
		downloads := 0
		for _, command := range data.Runcmd {
			if !strings.Contains(strings.Join(command, " "), "curl") {
				continue
			}
			downloads++
			dir := t.TempDir()
			script := strings.NewReplacer("/run/", dir+"/", "<SHA-256 of the package>", strings.Repeat("0", 64)).Replace(command[2])
			out, err := w.guide(t, dir, script, map[string]string{
				"curl": `while [ "$1" != -o ]; do shift; done; echo evil >"$2"`, "dpkg": "touch " + dir + "/installed",
			})
			if err == nil {
				t.Errorf("%s: %q succeeded", name, script)
			}
			all += out
			if _, err := os.Stat(filepath.Join(dir, "installed")); err == nil {
				t.Errorf("%s: dpkg has installed a package of mallory's", name)
			} else {
				all += "nothing was installed\n"
			}
		}
		if downloads != 1 {
			t.Errorf("%s.yaml has %d downloads", name, downloads)
		}
	}
	return all
}

// guide runs a script in a directory with programs of the test before those of the system. It
// returns what is printed; the file stderr gets the errors.
func (w *world) guide(t *testing.T, dir, script string, programs map[string]string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	for name, text := range programs {
		must.Do(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":/usr/bin:/bin", "LC_ALL=C")
	errors, err := os.Create(filepath.Join(dir, "stderr"))
	must.Do(t, err)
	defer errors.Close()
	cmd.Stderr = errors
	out, err := cmd.Output()
	return string(out), err
}
