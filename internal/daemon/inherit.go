package daemon

import (
	"fmt"
	"net"
	"os"
)

// InheritedListener returns a listener that the program before this one in the same process has
// left open, within limits. It closes the file. Clients that have connected in between are in
// the queue of the listener.
func InheritedListener(f *os.File, limits Limits) (*Listener, error) {
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("inherited listener: %w", err)
	}
	tcp, is := l.(*net.TCPListener)
	if !is {
		l.Close()
		return nil, fmt.Errorf("inherited listener at %v: no TCP", l.Addr())
	}
	return newListener(tcp, limits), nil
}
