//go:build !linux

package taskproc

import "errors"

// Tasknodes run on Linux, so no process of another system has a Next.

func redirectOutput(_, _ int) error { return errors.ErrUnsupported }

func adoptOrphans() error { return errors.ErrUnsupported }

func hasDescendants() bool { return true }
