package suspend

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// swapFile is a file that the kernel swaps to; "" is none.
type swapFile string

// newSwapFile makes a file of the given size and has the kernel swap to it. It must be
// removed. The kernel refuses a file with holes, so all of it is written. The rest of the size
// above a multiple of 1 MiB is not used.
func newSwapFile(path string, bytes int64) (swapFile, error) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return "", fmt.Errorf("swap file: %w", err)
	}
	for _, args := range [][]string{
		{"dd", "if=/dev/zero", "of=" + path, "bs=1M", fmt.Sprint("count=", bytes>>20), "conv=fsync", "status=none"},
		{"mkswap", path},
		{"swapon", path},
	} {
		if err := command(args...); err != nil {
			return "", errors.Join(fmt.Errorf("swap file: %w", err), os.Remove(path))
		}
	}
	return swapFile(path), nil
}

// remove makes the kernel stop using the file, and removes it.
func (s swapFile) remove() error {
	if s == "" {
		return nil
	}
	if err := command("swapoff", string(s)); err != nil {
		return fmt.Errorf("%w; run it again and remove the file", err)
	}
	return os.Remove(string(s))
}

// command runs a program. The error has what it printed.
func command(args ...string) error {
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", args, err, out)
	}
	return nil
}
