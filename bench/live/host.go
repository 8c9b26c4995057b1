package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Host describes a machine of a Testbed. Each machine runs `hammr bench host`, which prints it.
type Host struct {
	Name     string `json:"name"` // in the hostfile
	DiskRate int64  `json:"diskBytesPerSecond"`
	Environment
	Clock int64 `json:"clockMillis"` // ms since the epoch, when it answered
	Link  *Link `json:"link,omitempty"`
}

// Link is what a machine measures of the network to another one.
type Link struct {
	To   string `json:"to"`
	RTT  int64  `json:"roundTripMicros"` // the median
	Rate int64  `json:"bytesPerSecond"`  // of one connection
}

// ThisHost describes this machine, for clusters in a directory.
func ThisHost(dir string) (h Host, err error) {
	rate, err := diskRate(dir)
	h.DiskRate, h.Environment, h.Clock = int64(rate), EnvironmentOf(dir, nil), time.Now().UnixMilli()
	return h, err
}

// Bounds of a measurement of a link.
const (
	linkTimeout = 30 * time.Second
	linkBytes   = 64 << 20
	linkPings   = 21
)

// ServeLink answers one MeasureLink at an address, within linkTimeout.
func ServeLink(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	conn, err := l.Accept()
	if err = errors.Join(err, l.Close()); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	for range linkPings {
		if _, err := io.CopyN(conn, conn, 1); err != nil {
			return errors.Join(err, conn.Close())
		}
	}
	_, err = io.CopyN(io.Discard, conn, linkBytes)
	if err == nil {
		_, err = conn.Write([]byte{0})
	}
	return errors.Join(err, conn.Close())
}

// MeasureLink measures the network to an address with ServeLink, which may start a little later.
func MeasureLink(ctx context.Context, address string) (l *Link, err error) {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	var conn net.Conn
	err = syncutil.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) (bool, error) {
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", address)
		return err == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("link to %s: %w", address, err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer func() { err = errors.Join(err, conn.Close()) }()
	var trips []int64
	one := make([]byte, 1)
	for range linkPings {
		began := time.Now()
		if _, err := conn.Write(one); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(conn, one); err != nil {
			return nil, err
		}
		trips = append(trips, time.Since(began).Microseconds())
	}
	slices.Sort(trips)
	began := time.Now()
	if _, err := io.CopyN(conn, zeros{}, linkBytes); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(conn, one); err != nil {
		return nil, err
	}
	return &Link{address, trips[len(trips)/2], int64(linkBytes / time.Since(began).Seconds())}, nil
}

// zeros is an endless Reader of zeros.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// maxClockError is the greatest difference of a machine's clock from this one's. Losses of
// machines are timed by this machine, and attempts by the masters.
const maxClockError = 500 * time.Millisecond

// Describe starts a cluster on all machines, so that each is known to serve, asks each machine for
// its description, measures the network from each to the next one, and stops the cluster. A
// machine whose clock differs from this one's by more than half a second is an error.
func (b *Testbed) Describe(ctx context.Context) (hosts []Host, err error) {
	c, err := b.start(ctx, Config{Tasknodes: b.Tasknodes()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	plan := c.ssh.Plan().Hosts
	hosts = make([]Host, len(plan))
	var errs []error
	for i := range plan {
		began := time.Now()
		text, err := c.ssh.Command(ctx, plan[i].Name, `bench host --dir "$dir"`)
		if err == nil {
			err = json.Unmarshal([]byte(text), &hosts[i])
		}
		if ahead := hosts[i].Clock - time.Now().UnixMilli(); err == nil && (ahead > maxClockError.Milliseconds() || -ahead > (maxClockError+time.Since(began)).Milliseconds()) {
			err = fmt.Errorf("its clock is %d ms ahead of this machine's; synchronize both, for example by chrony", ahead)
		}
		if hosts[i].Name = plan[i].Name; err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", plan[i].Name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i := range plan {
		if to := &plan[(i+1)%len(plan)]; len(plan) > 1 {
			if hosts[i].Link, err = c.measureLink(ctx, plan[i].Name, to.Name, to.MeasureAddress()); err != nil {
				return nil, err
			}
			hosts[i].Link.To = to.Name
		}
	}
	return hosts, nil
}

// measureLink measures the network from a machine to another one.
func (c *Cluster) measureLink(ctx context.Context, from, to, address string) (l *Link, err error) {
	served := make(chan error, 1)
	go func() {
		_, err := c.ssh.Command(ctx, to, "bench host --serve :"+address[strings.LastIndexByte(address, ':')+1:])
		served <- err
	}()
	text, err := c.ssh.Command(ctx, from, "bench host --to "+address)
	if err = errors.Join(err, <-served); err != nil {
		return nil, fmt.Errorf("network from %s to %s: %w", from, to, err)
	}
	l = new(Link)
	return l, json.Unmarshal([]byte(text), l)
}
