// Package login names the user for whom a process acts, by Hadoop's rule for clusters without
// Kerberos: HADOOP_USER_NAME, else the login name of the process's user. $USER is not asked: cron,
// systemd and containers do not set it, and su may leave that of another user.
package login

import (
	"os"
	"os/user"
	"strconv"
)

// Name returns the user. A user without an entry in the directory of users is called by the number.
func Name() string { return NameIn(os.Getenv) }

// NameIn is Name with the environment that a function returns.
func NameIn(env func(string) string) string {
	if name := env("HADOOP_USER_NAME"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}
