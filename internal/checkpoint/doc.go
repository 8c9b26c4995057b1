// Package checkpoint is checkpoint files: their bytes, which
// docs/formats/checkpoint.md describes, and how one is copied from where it was
// written with all that it names. A task copies those that it goes on from, a tasknode
// those that it takes over from another one.
//
// What cannot be read is a *SourceError: the checkpoint is of no use there. Any
// other error is one of the place that is copied to, or of a context that ends.
package checkpoint
