// Package checkpoint reads and writes checkpoint files, whose bytes
// docs/formats/checkpoint.md describes, and copies one with all files that it names. A task
// copies the checkpoint that it resumes from, and a tasknode those of another one that is
// being drained.
//
//	checkpoint file ── names ──► runs that are not merged yet, published data files
//	      │                            │
//	      └──── Copier: from a Source, another machine or shared storage ────► Dir
//
// The caller distinguishes two errors. A *SourceError means that the checkpoint cannot be
// read, so it is unusable there. Any other error is one of the destination, or of a context
// that has ended: the checkpoint may be intact.
package checkpoint
