//go:build deploy

package sshcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// systemctl is a model of systemd for one machine: it starts daemons by their settings, and
// reports them as active when they are ready. $box is the directory of the machine.
const systemctl = `#!/bin/sh
echo "$*" >>"$box/calls"
verb=$1
for unit; do :; done
role=${unit#hammr-}
role=${role%.service}
pid() {
	p=$(cat "$box/$role.pid" 2>/dev/null)
	grep -qs '^State:.[^ZX]' "/proc/${p:-none}/status" && echo "$p"
}
case $verb in
cat)
	for role in jobmaster tasknode; do
		printf '[Service]\nExecStart=%s %s --config %s\nStateDirectory=%s\nUser=%s\n' "$box/usr/hammr" $role "$box/etc/$role.yaml" "../..$box/state/$role" "$(id -un)"
	done ;;
show)
	case $* in
	*User*) id -un ;;
	*) pid || echo 0 ;;
	esac ;;
is-active) pid >/dev/null ;;
start)
	(exec setsid "$box/usr/hammr" $role --config "$box/etc/$role.yaml") </dev/null >/dev/null 2>&1 &
	echo $! >"$box/$role.pid" ;;
stop)
	# A unit drains the tasknode if it runs.
	pid >/dev/null && echo "drain $role" >>"$box/calls" && kill "$p"
	while pid >/dev/null; do sleep 0.02; done ;;
esac
`

// TestUnits starts daemons by the units of a package, and stops them.
func TestUnits(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root starts units")
	}
	l := newLab(t)
	program, err := os.ReadFile(l.program)
	l.must(err)
	l.text = "a\nb\nc\n* staging=hdfs://nn:1/x slots=2 " + modelSettings() + "\n"
	for _, host := range []string{"a", "b", "c"} {
		box := filepath.Join(l.dir, "box-"+host)
		for _, dir := range []string{"bin", "etc", "state", "usr"} {
			l.must(os.MkdirAll(filepath.Join(box, dir), 0o755))
		}
		l.must(os.WriteFile(box+"/bin/systemctl", []byte(systemctl), 0o755))
		l.must(os.WriteFile(box+"/usr/hammr", program, 0o755))
	}
	cfg := l.config()
	cfg.Shell = []string{l.wrapper(fmt.Sprintf("export box=%s/box-$1\nPATH=$box/bin:$PATH", l.dir)), "{host}"}
	do := func(do func(c *Cluster) error) error {
		c, err := Open(t.Context(), cfg)
		l.must(err)
		err = do(c)
		l.must(c.Close())
		return err
	}
	start := func(c *Cluster) error { return c.Start(t.Context()) }
	states := func() (states []string) {
		l.must(do(func(c *Cluster) error {
			for _, r := range c.Status(t.Context()) {
				states = append(states, string(r.State))
			}
			return nil
		}))
		return states
	}
	t.Cleanup(func() {
		c, err := Open(context.Background(), cfg)
		l.must(err)
		l.must(c.Stop(context.Background(), true, 0))
		l.must(c.Close())
	})
	l.must(do(start))
	if got := strings.Join(states(), " "); got != "running running running running running running" {
		t.Errorf("after the start: %s", got)
	}
	settings, err := readSettings(l.dir + "/box-b/etc/tasknode.yaml")
	l.must(err)
	if settings["dir"] != l.dir+"/box-b/state/tasknode" || settings["token-file"] != l.dir+"/box-b/etc/token" || settings["ready-file"] != "" || settings["log-file"] != "" {
		t.Errorf("%v", settings)
	}
	if info, err := os.Stat(settings["token-file"]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if files, _ := filepath.Glob(l.dir + "/box-*/state/bin"); len(files) > 0 {
		t.Errorf("the program was copied beside the package: %q", files)
	}
	cfg.Program = l.otherProgram()
	l.wantError(do(start), "b: the package there has another program; install the package of this version")
	cfg.Program = l.program
	l.must(do(func(c *Cluster) error { return c.Reload(t.Context()) }))
	l.must(do(func(c *Cluster) error { return c.Stop(t.Context(), true, 0) }))
	if got := strings.Join(states(), " "); got != "stopped stopped stopped stopped stopped stopped" {
		t.Errorf("after the stop: %s", got)
	}
	calls := l.read("box-b/calls")
	for _, want := range []string{"enable --quiet hammr-jobmaster\nstart --no-block hammr-jobmaster\n", "reload hammr-tasknode\n", "disable --quiet hammr-tasknode\n", "\nstop hammr-tasknode\n"} {
		if !strings.Contains(calls, want) {
			t.Errorf("%q is not in\n%s", want, calls)
		}
	}
	if strings.Contains(calls, "drain") {
		t.Errorf("a stop of all tasknodes drained one:\n%s", calls)
	}
}
