package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// The functions of this file try what a tasknode does on this machine, without a tasknode.

// CheckUser looks up a user who submits jobs, as a tasknode does that runs as root, and returns the uid of the
// account. The error says why the user's tasks would not run on this machine.
func CheckUser(ctx context.Context, name string, minUID uint32, banned []string) (uid uint32, err error) {
	u := &users{minUID: minUID, banned: banned, run: runProgram}
	o, err := u.find(ctx, name)
	if err != nil || o == nil { // nil is the account of the daemon, which is root
		return 0, err
	}
	return o.uid, nil
}

// TryCgroup makes a control group as a tasknode with Cgroup "auto" does, and removes it. It returns the group above
// it and the version of control groups.
func TryCgroup() (parent string, version int, err error) {
	dir, err := CreateCgroup(fmt.Sprintf("hammr-try-%d", os.Getpid()), nil)
	if err != nil {
		return "", 0, err
	}
	version = 1
	if exists(filepath.Join(dir, "cgroup.controllers")) {
		version = 2
	}
	return filepath.Dir(dir), version, os.Remove(dir)
}
