package process

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// owner is the user whose rights a task has. The nil owner is the daemon's own
// user.
type owner struct {
	name, home string
	uid, gid   uint32
	groups     []uint32
}

// ownerOf is who is to run the tasks of a user's jobs: a daemon that is root
// gives them to the user, another one has no choice.
func ownerOf(name string) (*owner, error) {
	if os.Geteuid() != 0 || name == "" {
		return nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("user %s, who submitted the job, has no account on this machine: make one, or run the tasknode as another user than root: %w", name, err)
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("groups of user %s: %w", name, err)
	}
	o := &owner{name: name, home: u.HomeDir}
	if o.uid, err = id(u.Uid); err != nil {
		return nil, err
	}
	if o.gid, err = id(u.Gid); err != nil {
		return nil, err
	}
	for _, g := range groups {
		n, err := id(g)
		if err != nil {
			return nil, err
		}
		o.groups = append(o.groups, n)
	}
	if o.uid == 0 {
		return nil, nil
	}
	return o, nil
}

func id(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}

// credential is nil for the daemon's own.
func (o *owner) credential() *syscall.Credential {
	if o == nil {
		return nil
	}
	return &syscall.Credential{Uid: o.uid, Gid: o.gid, Groups: o.groups}
}

// chown makes the owner that of files and directories. Links are not followed:
// whose they are is all that could change.
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

// allowTraversal lets other users than the daemon's through a directory, though they
// can neither read nor change it: a user who could put a link there might have a
// daemon that is root write to another place.
func (o *owner) allowTraversal(dir string) error {
	if o == nil {
		return nil
	}
	return os.Chmod(dir, 0o711)
}

// environ sets what tells a program whose it is.
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
