package storage

import (
	"context"
	"slices"
	"strings"
)

// Identity says which file or directory a path means, whether it exists or not, however its name
// is spelled. Two Identities are compared by Same and Contains; names never are.
//
//	/data/in/new/out  →  Ancestors: in, data, /   Rest: new/out
//	                     exist: known by their ids  missing: known by its names
type Identity struct {
	// Systems are the names of the file system. Two file systems are the same if they have one in
	// common. HDFS has one for each address of a NameNode.
	Systems []string
	// Ancestors are the ids of the directories that contain the path, the nearest first, and before
	// them that of the path itself if it exists. Two directories of a file system are the same if
	// their ids are equal. At least one.
	Ancestors []string
	// Rest is the clean path from the nearest ancestor to the path; "" if the path exists.
	Rest string
}

// Identifier is an FS in which a file has several names, or which has several names itself.
type Identifier interface {
	// Identify returns the Identity of a path that need not exist.
	Identify(ctx context.Context, path string) (Identity, error)
}

// Identify returns the Identity of a path on fsys, as Router.Resolve returns them. If fsys is no
// Identifier, its URI and the path identify a file.
func Identify(ctx context.Context, fsys FS, path string) (Identity, error) {
	if i, ok := fsys.(Identifier); ok {
		return i.Identify(ctx, path)
	}
	path, err := CleanPath(ctx, "identify", path)
	return ByName([]string{fsys.URI()}, path), err
}

// ByName returns the Identity of a clean path on a file system without links.
func ByName(systems []string, path string) Identity {
	return Identity{Systems: systems, Ancestors: []string{"/"}, Rest: strings.Trim(path, "/")}
}

// HasLinks reports whether a directory of the file system may have several paths, so that what lies below a
// directory is known only when it is looked at.
func (a Identity) HasLinks() bool { return !slices.Equal(a.Ancestors, []string{"/"}) }

// Same reports whether a and b are one file or directory.
func (a Identity) Same(b Identity) bool {
	return a.Rest == b.Rest && a.Ancestors[0] == b.Ancestors[0] && a.OnSystemOf(b)
}

// Contains reports whether b is a or lies below it.
func (a Identity) Contains(b Identity) bool {
	if !a.OnSystemOf(b) {
		return false
	}
	if a.Rest == "" {
		return slices.Contains(b.Ancestors, a.Ancestors[0])
	}
	return a.Ancestors[0] == b.Ancestors[0] && strings.HasPrefix(b.Rest+"/", a.Rest+"/")
}

// OnSystemOf reports whether a and b are on one file system.
func (a Identity) OnSystemOf(b Identity) bool {
	return slices.ContainsFunc(a.Systems, func(name string) bool { return slices.Contains(b.Systems, name) })
}
