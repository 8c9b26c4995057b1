//go:build !unix

package daemon

// openFilesLimit returns 0: the limit is not known.
func openFilesLimit() int { return 0 }
