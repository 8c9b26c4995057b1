package failpoint

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// page holds the faults. A daemon and its tasks on one machine share it, so numbers have the
// machine's byte order.
type page struct {
	layout atomic.Uint64 // see layoutID

	delay       atomic.Int64 // extra time of each file operation in ns
	failOneIn   atomic.Int64 // one in this number of operations fails; 0 for none
	operations  atomic.Int64 // number of operations since failOneIn was set
	clockOffset atomic.Int64 // sum of the clock's jumps in ns

	points [points]struct {
		kind  atomic.Int64 // an actionKind
		delay atomic.Int64 // duration in ns
		nth   atomic.Int64 // the only hit at which the action runs; 0 for each hit
		hits  atomic.Int64 // number of hits since the point was set
	}
}

const pageBytes = 4096

// The build fails here if the points do not fit into the page.
var _ [pageBytes - unsafe.Sizeof(page{})]byte

// layoutID distinguishes pages with other fields or points.
func layoutID() uint64 {
	const version = 1
	return version<<32 | uint64(crc32.ChecksumIEEE([]byte(strings.Join(names[:], ","))))
}

// mapPage maps the file of a page.
func mapPage(f *os.File) (*page, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, pageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("faults of drills in %s: %w", f.Name(), err)
	}
	return (*page)(unsafe.Pointer(&b[0])), nil
}

// newPage makes the file of a page. It replaces an old file; processes that have mapped the
// old one keep it.
func newPage(name string) (p *page, err error) {
	if err := os.RemoveAll(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Tasks may run as the users of their jobs, so everyone may write.
	if err := errors.Join(f.Chmod(0o666), f.Truncate(pageBytes)); err != nil {
		return nil, err
	}
	if p, err = mapPage(f); err == nil {
		p.layout.Store(layoutID())
	}
	return p, err
}

// openPage maps the page of another process.
func openPage(name string) (*page, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping remains
	if info, err := f.Stat(); err != nil || info.Size() != pageBytes {
		return nil, errors.Join(err, fmt.Errorf("faults of drills in %s: not %d bytes", name, pageBytes))
	}
	p, err := mapPage(f)
	if err == nil && p.layout.Load() != layoutID() {
		return nil, fmt.Errorf("faults of drills in %s: of another version of hammr; build the program with that of its tasknode", name)
	}
	return p, err
}
