package process

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/taskproc"
)

// daemonVariables configure the daemon, not its tasks.
var daemonVariables = []string{
	"GOMEMLIMIT", "GOGC", "GOMAXPROCS", "GOTRACEBACK",
	"NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "WATCHDOG_USEC", "WATCHDOG_PID", "INVOCATION_ID",
	"PWD", "TMPDIR", "HADOOP_USER_NAME",
}

// environ returns the environment of a task. It is the daemon's environment without the
// variables that configure the daemon, which include all of Hammr's settings and secrets.
// more says that the process may run further tasks.
//
// TMPDIR belongs to the process: it is empty when a task begins, and removed with the
// process. With GOMEMLIMIT, Go's collector tries to keep the heap below the memory limit,
// because exceeding that limit ends the process.
func environ(base []string, start *taskproc.Start, t *task, more bool) []string {
	env := slices.DeleteFunc(slices.Clone(base), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return strings.HasPrefix(name, "HAMMR_") || slices.Contains(daemonVariables, name)
	})
	env = append(env,
		fmt.Sprintf("%s=%d", taskproc.ControlVariable, controlFD),
		fmt.Sprintf("GOMEMLIMIT=%d", t.limits.gcLimit()),
		"TMPDIR="+t.temp,
		"PWD="+t.dir,
	)
	if more {
		env = append(env, fmt.Sprintf("%s=%d", taskproc.NextVariable, nextFD))
	}
	if start.User != "" {
		env = append(env, "HADOOP_USER_NAME="+start.User)
	}
	if t.cfg.FaultFile != "" {
		env = append(env, failpoint.EnvVar+"="+t.cfg.FaultFile)
	}
	return t.owner.environ(env)
}
