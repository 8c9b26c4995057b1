package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Check checks, before a job starts, that its report can be written to path. Otherwise hours
// of work could end without a report. It makes the temporary file that WriteFile would make,
// and removes it.
func Check(path string) error {
	target, special, err := resolve(path)
	if err != nil || special {
		return err
	}
	f, err := createBeside(target)
	if err != nil {
		return fmt.Errorf("report file %s: %w", path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// WriteFile writes the document to path atomically: readers find the old file or the
// complete new one. If path is not a regular file (a pipe, /dev/stdout), the document is
// written into it. A symbolic link stays, and its target is replaced.
func WriteFile(path string, r Report) error {
	data, err := r.Marshal()
	if err != nil {
		return err
	}
	target, special, err := resolve(path)
	if err != nil {
		return err
	}
	if special {
		err = writeInto(target, data)
	} else {
		err = replace(target, data)
	}
	if err != nil {
		return fmt.Errorf("report file %s: %w", path, err)
	}
	return nil
}

// ReadFile reads the document at path.
func ReadFile(path string) (Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Report{}, err
	}
	r, err := Parse(data)
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// resolve follows symbolic links, so that the target is replaced and not the link.
// special reports that the target exists and is not a regular file.
func resolve(path string) (target string, special bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("report file: %w", err)
	}
	if info.IsDir() {
		return "", false, fmt.Errorf("report file %s is a directory; name a file in it", path)
	}
	if !info.Mode().IsRegular() {
		return path, true, nil
	}
	target, err = filepath.EvalSymlinks(path)
	return target, false, err
}

// createBeside makes a temporary file in the directory of target. os.CreateTemp would
// give it permissions for its owner only.
func createBeside(target string) (*os.File, error) {
	dir, base := filepath.Split(target)
	name := fmt.Sprintf("%s.%s.%d.tmp", dir, base, os.Getpid())
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
}

// replace writes data to a temporary file, syncs it, and renames it to target. After an
// error the temporary file is removed.
func replace(target string, data []byte) error {
	f, err := createBeside(target)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// writeInto writes data to a file that exists, such as a pipe, without replacing it.
func writeInto(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
