//go:build !unix

package local

import "io/fs"

// owners returns nothing: this system has no owners in the sense of Unix.
func owners(fs.FileInfo) (owner, group string) { return "", "" }

// fileID returns what identifies a file on this machine. name has no symbolic links.
func fileID(name string, _ fs.FileInfo) string { return name }

// inode returns nothing either.
func inode(fs.FileInfo) uint64 { return 0 }
