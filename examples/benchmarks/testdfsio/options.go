package testdfsio

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/mr"
)

// The options that choose a test.
const (
	defaultLog    = "TestDFSIO_results.log"
	defaultBuffer = 1_000_000
)

// The names of the tests.
const (
	testWrite = "write"
	testRead  = "read"
	testClean = "clean"
)

// options are the arguments of Hadoop's TestDFSIO. The case of their names does not matter.
//
//	-write -nrFiles 4 -size 100MB -resFile results.log -bufferSize 65536
type options struct {
	test   string // one of the tests; "" until one is given
	files  int    // number of files, and of maps
	size   int64  // bytes of each file
	log    string // local file to which results are appended
	buffer int    // bytes
}

// parseOptions returns the options of the command line, with Hadoop's defaults. Names are
// accepted in any case: each argument that equals a known name without regard to case is added
// as a name of its own.
func parseOptions(args []string) (options, error) {
	o := options{files: 1, size: megabyte, log: defaultLog, buffer: defaultBuffer}
	size := arguments.Value(func(value string) (err error) {
		o.size, err = parseSize(value)
		return err
	})
	unchangeable := arguments.Refused("the files here are written once and not changed after that; -write makes new ones")
	known := arguments.Options{
		"-write": o.testOption(testWrite), "-read": o.testOption(testRead), "-clean": o.testOption(testClean),
		"-nrfiles":    arguments.Number(&o.files, 1),
		"-buffersize": arguments.Number(&o.buffer, 1),
		"-size":       size, "-filesize": size,
		"-resfile": arguments.Value(func(value string) error { o.log = value; return nil }),
		"-append":  unchangeable, "-truncate": unchangeable,
	}
	for _, name := range args {
		if option, ok := known[strings.ToLower(name)]; ok {
			known[name] = option
		}
	}
	if err := known.ParseAll(args); err != nil {
		return o, err
	}
	if o.test == "" {
		return o, mr.ErrUsage
	}
	return o, nil
}

// testOption returns the option that chooses a test. There can be only one: to write and
// then read, run the program twice, so that each result has its line in the log.
func (o *options) testOption(test string) arguments.Option {
	return arguments.Do(func() error {
		if o.test != "" {
			return fmt.Errorf("a test in addition to -%s; write, read and clean up one after the other", o.test)
		}
		o.test = test
		return nil
	})
}

// units are the suffixes of a size, as powers of 2. A size without a suffix is in megabytes,
// as in Hadoop's -fileSize.
var units = map[string]int{
	"B": 0, "K": 10, "KB": 10, "": 20, "M": 20, "MB": 20, "G": 30, "GB": 30, "T": 40, "TB": 40,
}

// parseSize reads a size as Hadoop's TestDFSIO does: 10MB, 128kb, 1GB, 7 for 7MB. It refuses
// a size whose bytes do not fit into 63 bits. It also refuses letters that only resemble the
// letters of a unit.
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
