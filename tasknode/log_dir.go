package tasknode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A file in the directory of a job contains the full name of the job's directory for logs.
// From it a restarted daemon learns where to copy the logs of earlier attempts.
const (
	logDirName = "logdir"
	maxLogDir  = 64 << 10 // bytes of the name
)

// writeLogDir writes the file unless it exists. It renames a temporary file, so that the file
// is complete or absent.
func writeLogDir(jobDir, name string) error {
	path := filepath.Join(jobDir, logDirName)
	if name == "" {
		return nil
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.CreateTemp(jobDir, logDirName+".")
	if err != nil {
		return err
	}
	_, err = f.WriteString(name)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// readLogDir reads the file, "" if there is none.
func readLogDir(jobDir string) (string, error) {
	name, err := readBounded(filepath.Join(jobDir, logDirName), maxLogDir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(name), err
}
