package process

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

// owner is the user as which a task runs. If it is nil, the task runs as the daemon's own
// user.
type owner struct {
	name, home string
	uid, gid   uint32
	groups     []uint32
}

// credential returns the credential of the owner, nil for the daemon's own user.
func (o *owner) credential() *syscall.Credential {
	if o == nil {
		return nil
	}
	return &syscall.Credential{Uid: o.uid, Gid: o.gid, Groups: o.groups}
}

// chown makes the owner the owner of files and directories. It does not follow links: if a
// task made a link, the daemon would otherwise give away the target of the link.
func (o *owner) chown(paths ...string) error {
	if o == nil {
		return nil
	}
	for _, path := range paths {
		if err := os.Lchown(path, int(o.uid), int(o.gid)); err != nil {
			return err
		}
	}
	return nil
}

// allowTraversal allows all users to pass through a directory, but not to read or change it.
// If users could make links there, a daemon that runs as root could be made to write
// elsewhere.
func (o *owner) allowTraversal(dir string) error {
	if o == nil {
		return nil
	}
	return os.Chmod(dir, 0o711)
}

// environ sets the environment variables that name the user of a process.
func (o *owner) environ(env []string) []string {
	if o == nil {
		return env
	}
	env = slices.DeleteFunc(env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == "HOME" || name == "USER" || name == "LOGNAME"
	})
	return append(env, "HOME="+o.home, "USER="+o.name, "LOGNAME="+o.name)
}
