package process

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// inherited are the variables of the daemon that a task gets too. All others may be secrets
// of the operator, such as keys of a cloud, or configure the daemon. Config.TaskVariables
// names more.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ",
	"HADOOP_CONF_DIR", "HADOOP_HOME", "JAVA_HOME", "KRB5_CONFIG",
	"GODEBUG", "GORACE", "GOCOVERDIR",
}

// isInherited reports whether a task gets a variable of the daemon.
func isInherited(name string, more []string) bool {
	return slices.Contains(inherited, name) || strings.HasPrefix(name, "LC_") || slices.Contains(more, name)
}

// environ returns the environment of a task: the daemon's variables that are allowed, and
// those that describe the task. more says that the process may run further tasks.
//
// TMPDIR belongs to the process: it is empty when a task begins, and removed with the
// process. With GOMEMLIMIT, Go's collector tries to keep the heap below the memory limit,
// because exceeding that limit ends the process.
func environ(base []string, start *taskproc.Start, t *task, more bool) []string {
	env := slices.DeleteFunc(slices.Clone(base), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !isInherited(name, t.cfg.TaskVariables)
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
