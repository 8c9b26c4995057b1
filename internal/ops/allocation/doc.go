// Package allocation runs a cluster on the machines that a batch scheduler has given to a job,
// and continues it in the next allocation when the time of this one is over.
//
//	         environment of the job
//	                  │ Slurm, OAR
//	                  ▼
//	Run ── Launcher ──► Serve on each machine ──► jobmaster, tasknodes   as children
//	 │  ◄── messages ──┘      │
//	 │                        │ local files
//	 ▼                        ▼
//	state directory, on a file system that all machines see
//
// Run starts Serve on each machine as a step of the job, and a jobmaster and tasknodes below it.
// The connection is the standard input and output of the step: when it breaks, Serve ends its
// daemons. So nothing outlives the allocation.
//
// A program runs on the cluster. If it ends, all is over. If a signal or the end of the
// allocation comes first, the jobs are suspended and saved:
//
//	jobs suspended ─► backup of the masters ─► daemons end ─► local files copied ─► manifest
//	     └ maps are split, reduces write checkpoints                                  └ from here on, this is what is saved
//
// The next Run with the same state directory restores all of it: masters from the backup, the
// files of tasknode n1 on any machine that becomes n1. The program is started again from its
// beginning, and continues the jobs that it has submitted (mr, HAMMR_CONTINUE). No attempt runs
// twice: what has finished is in the state, with its output; the rest are checkpoints, and splits
// that nothing has read.
//
// Files in the state directory are described in docs/formats/allocation.md.
package allocation
