//go:build !linux

package daemon

import (
	"errors"
	"fmt"
)

// SetNice sets the niceness of this process, which is supported on Linux only.
func SetNice(niceness int) error {
	if niceness == 0 {
		return nil
	}
	return fmt.Errorf("niceness %d: %w", niceness, errors.ErrUnsupported)
}
