package doctor

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/hammr/hammr/internal/rpc"
)

// tokenFile is a file with the cluster's secret. dir is a directory that belongs to the user who reads the file; "" if
// that is the user of this process.
type tokenFile struct{ name, dir string }

// tokenFiles returns the files of the daemons and of the caller, each once.
func tokenFiles(t *Target) (files []tokenFile) {
	add := func(name, dir string) {
		if name != "" && !slices.ContainsFunc(files, func(f tokenFile) bool { return f.name == name }) {
			files = append(files, tokenFile{name, dir})
		}
	}
	for _, d := range usable(t) {
		add(d.TokenFile, ownDir(d))
	}
	for _, name := range t.TokenFiles {
		add(name, "")
	}
	return files
}

// ownDir returns the directory that belongs to the user of a daemon, "" if it has none.
func ownDir(d *Daemon) string {
	if len(d.Dirs) == 0 {
		return ""
	}
	return d.Dirs[0].Path
}

// checkToken examines one file.
func checkToken(_ context.Context, _ *Target, f tokenFile) Finding {
	file, dir := f.name, f.dir
	info, err := os.Stat(file)
	reader := uidOf(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault("copy the cluster's token there; for a new cluster: (umask 077; head -c 32 /dev/urandom | base64 > "+file+")", "%s: does not exist", file)
	case err != nil:
		return fault("let the daemon's user read the file", "%s", oneLine(err))
	case rpc.OthersCanUse(info, cmp.Or(max(reader, 0), os.Getuid())):
		return fault("chmod 600 "+file, "%s: mode %04o, other users can use it", file, info.Mode().Perm()).
			withFix("set the mode of "+file+" to 0600", func() error { return os.Chmod(file, 0o600) })
	}
	if _, err := rpc.ReadToken(file); err != nil {
		return fault("copy the cluster's token there", "%s", oneLine(err))
	}
	if owner := uidOf(file); reader > 0 && owner != reader && info.Mode().Perm()&0o040 == 0 {
		return fault("chown the file to the user who runs the daemon", "%s: belongs to uid %d, and %s to uid %d, who cannot read it", file, owner, dir, reader)
	}
	return ok("%s: mode %04o", file, info.Mode().Perm())
}

// uidOf returns the owner of a file, -1 if there is no such file.
func uidOf(name string) int {
	info, err := os.Stat(name)
	if err != nil {
		return -1
	}
	stat, isUnix := info.Sys().(*syscall.Stat_t)
	if !isUnix {
		return -1
	}
	return int(stat.Uid)
}
