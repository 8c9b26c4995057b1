// Package joblog reads and writes the logs that the attempts of a job have left on one
// machine: one file for each job and machine, with an index from which a reader gets the logs
// of one attempt without reading the others. docs/formats/logs.md describes the bytes.
//
//	w := joblog.NewWriter(file)
//	w.Add("attempt_1_0001_m_000000_0", "stderr", log)   // for each log
//	w.Close()                                           // writes the index
//
//	dir, err := joblog.OpenDir(ctx, fsys, "/joblogs/2026-11-30/job_1_0001")
//	text, err := dir.Read(ctx, "n1", "attempt_1_0001_m_000000_0", "stderr")
//
// A file is written once and never changed.
package joblog
