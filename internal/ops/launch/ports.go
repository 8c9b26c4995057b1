package launch

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"net"
	"strconv"
	"sync"
)

// Ports are below the range of outgoing connections, which could otherwise take a
// master's port while the master is down.
const (
	firstPort = 17000
	lastPort  = 31999
)

// reserved has the reservations of this process, which end with it.
var reserved struct {
	sync.Mutex
	sockets []net.Listener
}

// reserve reserves a port for this process, so that clusters that start at the same time do not
// choose the same. A reservation is an abstract Unix socket: it belongs to a network namespace, as
// ports do, and leaves no file.
func reserve(port string) error {
	socket, err := net.Listen("unix", "@hammr-port-"+port)
	if err != nil {
		return err
	}
	reserved.Lock()
	defer reserved.Unlock()
	reserved.sockets = append(reserved.sockets, socket)
	return nil
}

// FreePorts returns n addresses of a host, "" for all addresses of this machine, with free ports
// that no outgoing connection gets. They are reserved until this process ends. Only a program
// other than Hammr may still take one; random ports make that unlikely.
func FreePorts(host string, n int) (addresses []string, err error) {
	for tries := 100 * n; len(addresses) < n; tries-- {
		if tries == 0 {
			return nil, fmt.Errorf("no %d free ports within %d to %d on %s: %w", n, firstPort, lastPort, host, err)
		}
		number, randErr := rand.Int(rand.Reader, big.NewInt(lastPort-firstPort+1))
		if randErr != nil {
			return nil, randErr
		}
		port := strconv.FormatInt(firstPort+number.Int64(), 10)
		if err = reserve(port); err != nil {
			continue
		}
		address := net.JoinHostPort(host, port)
		listener, listenErr := net.Listen("tcp", address)
		if err = listenErr; err == nil {
			err = listener.Close()
			addresses = append(addresses, address)
		}
	}
	return addresses, err
}
