package sshcluster

import "syscall"

// ownGroup puts a process into a group of its own: a Ctrl-C in the terminal reaches this
// program only, which ends its commands and then needs connections to clean up.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
