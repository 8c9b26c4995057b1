// Package taskproc is the protocol between a tasknode and a task that it runs: protobuf
// messages, each framed by its length, over one duplex connection. The connection is a
// socket to a child process, or a pipe inside the process if tasks are goroutines.
//
// The tasknode sends Start first, and the task answers with Hello. Then either end may send at any time, so each end keeps
// one goroutine in Receive as long as the connection lasts: a pipe inside the process has
// no buffer, and two ends that both send and do not receive deadlock. The task ends the
// conversation with Finished, Failure, Checkpointed or Exited, and closes the connection.
//
//	tasknode                                             task
//	   ── Start ───────────────────────────────────────►
//	   ◄─ Hello ────────────────────────────────────────
//	   ── Outputs, RequestProgress ────────────────────►
//	   ◄─ Progress ─────────────────────────────────────
//	   ── Truncate, Preempt, Suspend, Resume, Kill ────►
//	   ◄─ SuspendReady, PreemptionDeclined ─────────────
//	   ── Profile ─────────────────────────────────────►
//	   ◄─ ProfileResult ────────────────────────────────
//	   ◄─ Finished, Failure, Checkpointed or Exited ────
//
// A program may be older or newer than its tasknode, so field numbers keep their meaning. What the
// other end would misunderstand gets a new version (Protocol).
package taskproc

//go:generate protoc -I ../../.. --go_out=../../.. --go_opt=module=github.com/hammr/hammr internal/rpc/taskproc/task.proto
