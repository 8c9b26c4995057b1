//go:build unix

package local

import (
	"fmt"
	"io/fs"
	"os/user"
	"strconv"
	"sync"
	"syscall"
)

// The names of users and groups by number. A machine has few of them, and each lookup reads
// a file.
var userNames, groupNames sync.Map // uint32 → string

// owners returns the names of the user and the group that own a file, or their numbers if
// they have no names. HDFS shows names and users compare them, although the kernel knows
// only numbers.
func owners(info fs.FileInfo) (owner, group string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", ""
	}
	return nameOf(&userNames, stat.Uid, userName), nameOf(&groupNames, stat.Gid, groupName)
}

// inode returns the number of a file in its file system, 0 if it has none.
func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino)
	}
	return 0
}

// nameOf returns the name for a number, looked up once in the life of the process. Later
// changes of the name have no effect.
func nameOf(known *sync.Map, number uint32, lookup func(string) string) string {
	if name, ok := known.Load(number); ok {
		return name.(string)
	}
	name := lookup(strconv.FormatUint(uint64(number), 10))
	known.Store(number, name)
	return name
}

// userName returns the name of a user, or the number if it has none, as ls shows it.
func userName(id string) string {
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// groupName returns the name of a group, or the number if it has none.
func groupName(id string) string {
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}

// fileID returns what identifies a file on this machine.
func fileID(name string, info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
	}
	return name
}
