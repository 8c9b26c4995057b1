// Package checkpoint reads and writes checkpoint files, and copies a checkpoint with all
// files that it names. docs/formats/checkpoint.md describes the bytes of a checkpoint file.
// A task copies the checkpoint from which it resumes. A tasknode copies checkpoints from a
// tasknode that is being drained.
//
//	checkpoint file ── names ──► runs that are not merged yet, published data files
//	      │                            │
//	      └──── Copier: from a Source, another machine or shared storage ────► Dir
//
// The caller distinguishes two errors. A *SourceError means that the checkpoint cannot be
// read, so it is unusable there. Any other error is from the destination, or from a context
// that has ended: the checkpoint may be intact.
package checkpoint
