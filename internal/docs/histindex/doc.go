// Package histindex lists the finished jobs of a directory of histories, also those that have left the
// jobmasters, and reads their histories:
//
//	HISTORY/2026-11-23/index-….jsonl ──┐
//	HISTORY/2026-11-23/JOB.jsonl.zst ──┴─► Index ──► View: a Summary of each job
//	                                             └─► Job: the whole history of one job
//
// An Index follows the directory only while View is called: a call starts to list new files if
// the last listing is old, and waits a moment for the result. A job that no index file lists costs one
// read of the first line of its history. A damaged file is named in the View, and the others are used.
//
// The caller closes the Index, which waits for its goroutine.
package histindex
