package live

import (
	"errors"
	"fmt"

	"github.com/hammr/hammr/internal/netns"
)

// links give each machine of a cluster, with its tasknode and its DataNode, a network of its
// own and a link with a rate in Mbit/s for both directions. Masters, the NameNode and
// clients are in this process's network, behind no link. Links are limited by a token bucket
// in each direction (tc).
type links struct {
	bridge     *netns.Bridge
	namespaces []string // of machines, which have the same names
	mbits      int
}

// linksNetwork is the first three numbers of all addresses. minihdfs chooses the addresses
// of DataNodes, and a tasknode shares the address of its DataNode.
const linksNetwork = "10.77.0"

// masterHost is the address of this process's network.
const masterHost = linksNetwork + ".1"

// newLinks needs the right to create network namespaces.
func newLinks(machines, mbits int) (*links, error) {
	bridge, err := netns.New("machines", masterHost)
	if err != nil {
		return nil, fmt.Errorf("links of machines: %w", err)
	}
	l := &links{bridge: bridge, mbits: mbits}
	for i := range machines {
		l.namespaces = append(l.namespaces, tasknodeName(i))
		if err := bridge.AddMachine(tasknodeName(i), fmt.Sprintf("%s.%d", linksNetwork, 11+i)); err != nil {
			return nil, errors.Join(err, bridge.Remove())
		}
	}
	return l, nil
}

// applyRate limits the links to their rate; lift removes the limit.
func (l *links) applyRate() error  { return l.limit(l.mbits) }
func (l *links) removeRate() error { return l.limit(0) }

// limit sets the rate of all links; 0 is no limit.
func (l *links) limit(mbits int) (err error) {
	for _, machine := range l.namespaces {
		err = errors.Join(err, l.bridge.LimitRate(machine, mbits))
	}
	return err
}

func (l *links) remove() error { return l.bridge.Remove() }
