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

// page is what is to go wrong, shared by a daemon and its tasks. The machine's
// byte order is that of its only readers.
type page struct {
	layout atomic.Uint64 // of this page, see layoutID

	delay       atomic.Int64 // ns that each operation of a file takes longer
	failOneIn   atomic.Int64 // of how many operations of files one fails, 0 for none
	operations  atomic.Int64 // since failOneIn was set
	clockOffset atomic.Int64 // ns by which the clock has jumped

	points [points]struct {
		deed  atomic.Int64
		delay atomic.Int64 // ns
		nth   atomic.Int64
		hits  atomic.Int64 // since the point was set
	}
}

const pageBytes = 4096

// The page has room for all points.
var _ [pageBytes - unsafe.Sizeof(page{})]byte

// layoutID tells pages apart whose fields or points differ.
func layoutID() uint64 {
	const version = 1
	return version<<32 | uint64(crc32.ChecksumIEEE([]byte(strings.Join(names[:], ","))))
}

// mapPage maps a file that holds a page.
func mapPage(f *os.File) (*page, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, pageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("faults of drills in %s: %w", f.Name(), err)
	}
	return (*page)(unsafe.Pointer(&b[0])), nil
}

// newPage makes the file of a page. One that is there is left to who uses it.
func newPage(name string) (p *page, err error) {
	if err := os.RemoveAll(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Tasks count as the users whose jobs they are of.
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
	defer f.Close() // the mapping stays
	if info, err := f.Stat(); err != nil || info.Size() != pageBytes {
		return nil, errors.Join(err, fmt.Errorf("faults of drills in %s: not %d bytes", name, pageBytes))
	}
	p, err := mapPage(f)
	if err == nil && p.layout.Load() != layoutID() {
		return nil, fmt.Errorf("faults of drills in %s: of another version of hammr; build the program with that of its tasknode", name)
	}
	return p, err
}
