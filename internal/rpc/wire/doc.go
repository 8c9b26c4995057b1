// Package wire has the messages between clients, the jobmaster and its tasknodes. The
// embedded engine passes them by channel inside one process; a cluster sends them by the
// calls of package wireconnect. The messages between a tasknode and a task are in
// package taskproc.
package wire

//go:generate protoc -I ../../.. --go_out=../../.. --go_opt=module=github.com/hammr/hammr --connect-go_out=../../.. --connect-go_opt=module=github.com/hammr/hammr,simple internal/rpc/wire/hammr.proto
