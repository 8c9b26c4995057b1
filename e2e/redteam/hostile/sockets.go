package main

import (
	"fmt"
	"net"
	"os"
	"time"
)

// opensSockets opens connections to a master and begins a request on each, whose body never comes. A file
// says when it has opened them; then it waits.
func opensSockets(t *task) error {
	const connections = 10_000
	refused := 0
	for range connections {
		conn, err := net.DialTimeout("tcp", t.property("address"), 10*time.Second)
		if err != nil {
			refused++
			continue
		}
		defer conn.Close()
		_, _ = fmt.Fprintf(conn, "POST /hammr.v1.Jobmaster/Submit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n") // the master may have closed it
	}
	text := fmt.Sprintf("%d connections tried, %d not made", connections, refused)
	if err := writeAtOnce(t.property("path"), text); err != nil {
		return err
	}
	return waits(t)
}

// writeAtOnce makes a file that has its text as soon as it is there.
func writeAtOnce(name, text string) error {
	if err := os.WriteFile(name+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
