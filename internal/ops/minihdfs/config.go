package minihdfs

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strings"

	"github.com/hammr/hammr/internal/kit/validate"
)

// Config describes a cluster.
type Config struct {
	// Dir holds the configuration, the logs and the data. A cluster started on
	// the Dir of an earlier one finds its files again. Required.
	Dir string
	// DataNodes is the number of DataNodes, at most 200. Default 3.
	DataNodes int
	// Replication is the default number of copies of a block. Default the
	// smaller of 3 and DataNodes.
	Replication int
	// BlockSize is the default size of a block in bytes, a multiple of 512.
	// Default 128 MiB.
	BlockSize int64
	// Network is the first three numbers of the cluster's addresses, such as "127.10.20".
	// Default a network chosen by Dir on which nothing listens.
	Network string
	// Namespaces are network namespaces, one for each DataNode, with the DataNodes'
	// addresses. The NameNode's address is in this process's namespace, and Network is any
	// private one. Default none: all share this process's loopback device.
	Namespaces []string
	// Racks names the rack of each DataNode, by index. Default "/rack1" for all but the last
	// of several, which is in "/rack2".
	Racks []string
	// HeapMiB bounds the heap of each daemon. Default 256.
	HeapMiB int
	// Properties override those of this package.
	Properties map[string]string
	// Supervisor is the command that Up starts in the background, with Dir as its last
	// argument. It calls Supervise. Only Up needs it.
	Supervisor []string
}

// EnsureDefaults fills in what is zero, except Network. Racks depend on the number of
// DataNodes, so they come last.
func (c *Config) EnsureDefaults() {
	c.DataNodes = cmp.Or(c.DataNodes, 3)
	c.Replication = cmp.Or(c.Replication, min(3, c.DataNodes))
	c.BlockSize, c.HeapMiB = cmp.Or(c.BlockSize, 128<<20), cmp.Or(c.HeapMiB, 256)
	if c.Racks == nil {
		for i := range c.DataNodes {
			c.Racks = append(c.Racks, defaultRack(i, c.DataNodes))
		}
	}
}

// defaultRack leaves the last of several DataNodes alone in a second rack, so that
// placement by racks has an effect.
func defaultRack(i, n int) string {
	if n > 1 && i == n-1 {
		return "/rack2"
	}
	return "/rack1"
}

// Validate reports every error at once.
func (c *Config) Validate() error {
	spaces := len(c.Namespaces)
	return errors.Join(
		validate.That(c.Dir != "", "minihdfs: Dir is empty"),
		validate.That(c.DataNodes >= 1 && c.DataNodes <= 200, "minihdfs: DataNodes is %d, not within 1 to 200", c.DataNodes),
		validate.That(c.Replication >= 1 && c.Replication <= c.DataNodes, "minihdfs: Replication is %d with %d DataNodes", c.Replication, c.DataNodes),
		validate.That(c.BlockSize > 0 && c.BlockSize%512 == 0, "minihdfs: BlockSize is %d, not a multiple of 512", c.BlockSize),
		validate.That(len(c.Racks) == c.DataNodes, "minihdfs: %d Racks for %d DataNodes", len(c.Racks), c.DataNodes),
		validate.That(spaces == 0 || spaces == c.DataNodes, "minihdfs: %d Namespaces for %d DataNodes", spaces, c.DataNodes),
		validate.That(spaces == 0 || validNetwork(c.Network), "minihdfs: Network %q is not like 10.77.0", c.Network),
		validate.That(spaces > 0 || c.Network == "" || validNetwork(c.Network) && strings.HasPrefix(c.Network, "127."),
			"minihdfs: Network %q is not like 127.10.20", c.Network),
	)
}

// validNetwork accepts three numbers from 0 to 255.
func validNetwork(network string) bool {
	return net.ParseIP(network+".1").To4() != nil && strings.Count(network, ".") == 2
}

// chooseNetwork returns a network on which nothing listens: the first free one in an order
// that depends on dir and, unless stable is set, on this process. With a stable order a
// restarted cluster keeps its addresses. It tries 64 of them. The step between two tries is
// a prime number, so that clusters with neighbouring hashes do not try the same networks in
// the same order.
func chooseNetwork(dir string, stable bool) (string, error) {
	hash := fnv.New32a()
	hash.Write([]byte(dir))
	if !stable {
		fmt.Fprint(hash, os.Getpid())
	}
	const networks = 254 * 254
	start := hash.Sum32() % networks
	var taken error
	for try := range uint32(64) {
		n := (start + try*7919) % networks
		network := fmt.Sprintf("127.%d.%d", 1+n/254, 1+n%254)
		if taken = networkIsTaken(network); taken == nil {
			return network, nil
		}
	}
	return "", fmt.Errorf("minihdfs: no free network within 127.0.0.0/8: %w", taken)
}

// networkIsTaken tries the NameNode's ports only. Two clusters that start at the same
// moment may choose the same network; then the later one fails to listen.
func networkIsTaken(network string) error {
	for _, port := range []string{rpcPort, httpPort} {
		l, err := net.Listen("tcp", net.JoinHostPort(network+".1", port))
		if err != nil {
			return err
		}
		l.Close()
	}
	return nil
}
