package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/tasknode/process"
)

// fewOpenFiles is a limit of open files with less than which a daemon fails under load.
const fewOpenFiles = 1024

// checkOpenFiles examines the limit of each daemon that runs; for daemons that do not run, that of this process. Go
// programs raise their soft limit to the hard one, which is what counts.
func checkOpenFiles(ctx context.Context, t *Target) (found []Finding) {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		return []Finding{skipped("%s", oneLine(err))}
	}
	for _, d := range usable(t) {
		if limit, known := metric(ctx, dialable(d.HTTP), "process_max_fds"); known && d.runs(ctx) {
			found = append(found, judgeOpenFiles(d.describe(), limit, d.MaxConnections))
			continue
		}
		found = append(found, judgeOpenFiles(d.describe()+", started from this shell", float64(own.Max), d.MaxConnections))
	}
	if len(found) == 0 {
		var cfg tasknoded.Config
		cfg.EnsureDefaults()
		found = append(found, judgeOpenFiles("a daemon, started from this shell", float64(own.Max), cfg.MaxConnections))
	}
	return found
}

// judgeOpenFiles compares a limit with what a daemon needs: it uses at most half of its files for connections.
func judgeOpenFiles(who string, limit float64, connections int) Finding {
	text := fmt.Sprintf("%s: %.0f open files", who, limit)
	remedy := fmt.Sprintf("set LimitNOFILE=%d in the daemon's unit, or nofile in /etc/security/limits.conf", 4*connections)
	switch {
	case limit < fewOpenFiles:
		return fault(remedy, "%s, at least %d are needed", text, fewOpenFiles)
	case limit < 2*float64(connections):
		return warn(remedy, "%s, enough for %.0f of --max-connections %d", text, limit/2, connections)
	}
	return ok("%s", text)
}

// checkCgroup examines the control groups of the tasknodes; without a tasknode, whether this process could make one.
func checkCgroup(ctx context.Context, t *Target) (found []Finding) {
	for _, d := range t.ofKind(Tasknode) {
		found = append(found, checkCgroupOf(ctx, d))
	}
	if len(found) == 0 {
		found = append(found, tryCgroup("a tasknode, started from this shell"))
	}
	return found
}

const sampledRemedy = "run the tasknode as root, or in a unit of systemd with Delegate=memory, or name a group with --cgroup"

func checkCgroupOf(ctx context.Context, d *Daemon) Finding {
	switch group := d.Tasknode.Cgroup; {
	case group == tasknoded.CgroupNone:
		return ok("%s: none (--cgroup none); the memory of tasks is sampled", d.describe())
	case group != tasknoded.CgroupAuto:
		return checkNamedCgroup(d, group)
	case d.runs(ctx):
		// The tasknode records the group that it has made.
		text, err := os.ReadFile(filepath.Join(ownDir(d), "cgroup"))
		if group := strings.TrimSpace(string(text)); err == nil && group != "" {
			return ok("%s: %s", d.describe(), group)
		}
		return warn(sampledRemedy, "%s: runs without a control group, so the memory of tasks is sampled; its log has the reason", d.describe())
	}
	return tryCgroup(d.describe() + ", started from this shell")
}

// tryCgroup makes and removes a control group.
func tryCgroup(who string) Finding {
	parent, version, err := process.TryCgroup()
	if err != nil {
		return warn(sampledRemedy, "%s: no control group can be made, so the memory of tasks is sampled: %s", who, oneLine(err))
	}
	return ok("%s: version %d, below %s", who, version, parent)
}

// checkNamedCgroup examines the group of --cgroup without a change to it, because tasks may run in it.
func checkNamedCgroup(d *Daemon, group string) Finding {
	what := fmt.Sprintf("%s: --cgroup %s", d.describe(), group)
	has := func(file string) bool {
		_, err := os.Stat(filepath.Join(group, file))
		return err == nil
	}
	var version, writable string
	switch {
	case has("cgroup.controllers"):
		version, writable = "version 2", "cgroup.subtree_control"
	case has("memory.limit_in_bytes"):
		version, writable = "version 1", "."
	default:
		return fault("name the directory of a control group that accounts for memory, or auto", "%s: not a control group for memory", what)
	}
	if controllers, err := os.ReadFile(filepath.Join(group, "cgroup.controllers")); err == nil && !strings.Contains(" "+strings.TrimSpace(string(controllers))+" ", " memory ") {
		return fault("delegate the memory controller to the group (Delegate=memory)", "%s: has no memory controller", what)
	}
	if err := unix.Access(filepath.Join(group, writable), unix.W_OK); err != nil {
		return fault("give the group to the tasknode's user (Delegate=memory, or chown)", "%s: this user cannot write there: %v", what, err)
	}
	return ok("%s: %s", what, version)
}
