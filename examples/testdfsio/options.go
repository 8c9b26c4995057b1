package testdfsio

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hammr/hammr/mr"
)

const (
	defaultLog    = "TestDFSIO_results.log"
	defaultBuffer = 1_000_000
)

// The tests.
const (
	testWrite = "write"
	testRead  = "read"
	testClean = "clean"
)

// options are the arguments of Hadoop's TestDFSIO. Their names may be in any
// case of letters.
type options struct {
	test   string
	files  int
	size   int64  // bytes of each file
	log    string // local file that results are appended to
	buffer int    // bytes
}

func parseOptions(args []string) (options, error) {
	o := options{files: 1, size: megabyte, log: defaultLog, buffer: defaultBuffer}
	for len(args) > 0 {
		rest, err := o.take(strings.ToLower(args[0]), args[1:])
		if err != nil {
			return o, fmt.Errorf("%w: option %s: %w", mr.ErrUsage, args[0], err)
		}
		args = rest
	}
	if o.test == "" {
		return o, mr.ErrUsage
	}
	return o, nil
}

// take takes one option and its value and returns what follows.
func (o *options) take(name string, values []string) (rest []string, err error) {
	switch name {
	case "-write", "-read", "-clean":
		if o.test != "" {
			return nil, fmt.Errorf("a test beside -%s; write, read and clean up one after the other", o.test)
		}
		o.test = name[1:]
		return values, nil
	case "-append", "-truncate":
		return nil, errors.New("the files here are written once and not changed after that; -write makes new ones")
	case "-nrfiles", "-size", "-filesize", "-resfile", "-buffersize":
		if len(values) == 0 {
			return nil, errors.New("a value is missing")
		}
		return values[1:], o.set(name, values[0])
	}
	return nil, errors.New("not known")
}

func (o *options) set(name, value string) (err error) {
	switch name {
	case "-nrfiles":
		o.files, err = wholeNumber(value)
	case "-buffersize":
		o.buffer, err = wholeNumber(value)
	case "-resfile":
		o.log = value
	default:
		o.size, err = parseSize(value)
	}
	return err
}

func wholeNumber(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a whole number of at least 1, or too large", text)
	}
	return int(n), nil
}

// units are what a size may end in, as powers of 2. Megabytes are meant where
// there is none.
var units = map[string]int{
	"B": 0, "K": 10, "KB": 10, "": 20, "M": 20, "MB": 20, "G": 30, "GB": 30, "T": 40, "TB": 40,
}

// parseSize reads a size as Hadoop's TestDFSIO does: 10MB, 128kb, 1GB, 7 for
// 7MB.
func parseSize(text string) (int64, error) {
	upper := strings.ToUpper(text)
	digits := strings.TrimRight(upper, "BKMGT")
	shift, known := units[upper[len(digits):]]
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || !known || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("%q is not a size: write 100B, 10KB, 10MB, 1GB or 1TB", text)
	}
	return int64(n) << shift, nil
}
