// Package board is the docs.Source of a process that has a board (package internal/docs/board): a master, an
// engine in one process, a simulator.
//
//	jobs, tasks, attempts, events, counters    the board and the state of this process
//	jobs that have left the state              their histories
//	why jobs wait, tasknodes, pools, changes   Config.Leader
//
// So readers of a follower cost the leader nothing, except for what only the leader knows. The answers
// of a follower are as old as its last contact with the leader. If that is long ago, they say so.
package board
