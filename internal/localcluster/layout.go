package localcluster

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/jsonfile"
	"github.com/hammr/hammr/internal/owndir"
)

// layout lists the parts of a cluster, running or not. Masters keep their ports, because other
// masters and tasknodes know them.
type layout struct {
	ID            string           `json:"id"` // of the cluster: ms since the epoch at its creation
	Masters       []masterLayout   `json:"masters"`
	Tasknodes     []tasknodeLayout `json:"tasknodes"`
	MasterFlags   []string         `json:"masterFlags,omitempty"`
	TasknodeFlags []string         `json:"tasknodeFlags,omitempty"`
}

type masterLayout struct {
	ID      string `json:"id"`
	Address string `json:"address"` // host:port
	HTTP    string `json:"http"`    // host:port
}

type tasknodeLayout struct {
	Name        string `json:"name"`
	Host        string `json:"host"`
	MapSlots    int    `json:"mapSlots"`
	ReduceSlots int    `json:"reduceSlots"`
	Namespace   string `json:"namespace,omitempty"` // network namespace
}

// localhost is the default address of daemons.
const localhost = "127.0.0.1"

// readOrCreateLayout reads the layout of a directory, or creates one for cfg. The layout is
// written before anything starts: after a crash the next Up finds the same ports and names.
func readOrCreateLayout(cfg Config) (*layout, error) {
	l := new(layout)
	path := filepath.Join(cfg.Dir, layoutFile)
	err := jsonfile.ReadOwn(path, l)
	token := filepath.Join(cfg.Dir, TokenFile)
	if err == nil {
		return l, createToken(token)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := checkEmpty(cfg.Dir); err != nil {
		return nil, err
	}
	if l, err = newLayout(cfg); err != nil {
		return nil, err
	}
	if err := createToken(token); err != nil {
		return nil, err
	}
	return l, jsonfile.Write(path, l, fileMode)
}

// checkEmpty refuses a directory with other files. A wrong --dir, such as a home directory,
// must not be filled with a cluster.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != lockFile && e.Name() != TokenFile {
			return fmt.Errorf("directory %s has %s in it and no cluster; choose another", dir, e.Name())
		}
	}
	return nil
}

// newLayout numbers masters m1, m2, … and tasknodes n1, n2, …; their names never change.
func newLayout(cfg Config) (*layout, error) {
	l := &layout{
		ID:          strconv.FormatInt(time.Now().UnixMilli(), 10),
		MasterFlags: cfg.MasterFlags, TasknodeFlags: cfg.TasknodeFlags,
	}
	ports, err := masterPorts(cfg)
	if err != nil {
		return nil, err
	}
	for i := range cfg.Masters {
		l.Masters = append(l.Masters, masterLayout{ID: fmt.Sprintf("m%d", i+1), Address: ports[2*i], HTTP: ports[2*i+1]})
	}
	l.add(cfg, cfg.Tasknodes)
	return l, nil
}

// add adds n tasknodes, with the addresses and namespaces of cfg if there are any. The
// first of the new tasknodes gets the first address of cfg.
func (l *layout) add(cfg Config, n int) {
	for i := range n {
		host, namespace := localhost, ""
		if i < len(cfg.Addresses) {
			host = cfg.Addresses[i]
		}
		if i < len(cfg.Namespaces) {
			namespace = cfg.Namespaces[i]
		}
		l.Tasknodes = append(l.Tasknodes, tasknodeLayout{
			Name: fmt.Sprintf("n%d", len(l.Tasknodes)+1), Host: host, MapSlots: cfg.MapSlots, ReduceSlots: cfg.ReduceSlots,
			Namespace: namespace,
		})
	}
}

// createToken writes a random secret, unless there is one that only this user can change. A
// cluster that is started again keeps its secret, so that clients with a copy stay valid.
func createToken(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		_, err := owndir.ReadFile(path)
		return err
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.ToLower(rand.Text()) + "\n")
	return errors.Join(err, f.Close())
}

// Ports are below the range of outgoing connections, which could otherwise take a
// master's port while the master is down.
const (
	firstPort = 17000
	lastPort  = 31999
)

// masterPorts returns host:port of the calls and of the page of each master. With MasterHosts
// the ports are the defaults of masters, 7070 and 7080.
func masterPorts(cfg Config) (ports []string, err error) {
	if len(cfg.MasterHosts) == 0 {
		return FreePorts(localhost, 2*cfg.Masters)
	}
	for _, host := range cfg.MasterHosts {
		ports = append(ports, net.JoinHostPort(host, "7070"), net.JoinHostPort(host, "7080"))
	}
	return ports, nil
}

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

// FreePorts returns n addresses with free ports that no outgoing connection gets. They are
// reserved until this process ends. Only a program other than Hammr may still take one; random
// ports make that unlikely.
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
