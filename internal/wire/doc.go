// Package wire holds the messages between clients, the jobmaster and its
// tasknodes. The embedded engine passes them by channel inside one process; a
// cluster streams the same ones, by the calls of package wireconnect. What a
// tasknode says to a task is in package taskproc.
package wire

//go:generate protoc -I ../.. --go_out=../.. --go_opt=module=github.com/hammr/hammr --connect-go_out=../.. --connect-go_opt=module=github.com/hammr/hammr,simple internal/wire/hammr.proto
