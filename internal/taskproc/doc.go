// Package taskproc is how a tasknode and a task that it runs talk: protobuf
// messages, each framed by its length, over one duplex connection. The
// connection is a socket to a child process, or a pipe inside the process when
// tasks are goroutines.
//
// The tasknode sends Start first. Then either end may send at any time, so each
// keeps one goroutine in Receive for as long as the connection lasts: a pipe
// inside the process has no buffer, and two ends that both send and do not
// receive wait for each other for ever. The task ends the conversation with one
// of Done, Failure, Paused or Killed and closes the connection.
package taskproc

//go:generate protoc -I ../.. --go_out=../.. --go_opt=module=github.com/hammr/hammr internal/taskproc/task.proto
