package testdfsio

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
)

// sums has the sums over all files, by name. The names and units are Hadoop's, so its tools
// can read the output of the jobs.
type sums map[string]float64

const (
	sumTasks  = "l:tasks"  // number of files
	sumSize   = "l:size"   // bytes
	sumTime   = "l:time"   // milliseconds
	sumRate   = "f:rate"   // thousandths of a MB/s
	sumSquare = "f:sqrate" // thousandths of the square of a rate in MB/s
)

// megabyte is Hadoop's megabyte, 2^20 bytes.
const megabyte = 1 << 20

// sumsOf yields what one file adds, in order of name:
//
//	f:rate    4000     a file of 1 MB in 250 ms: 4 MB/s
//	f:sqrate  16000
//	l:size    1048576
//	l:tasks   1
//	l:time    250
//
// The mean and the deviation of the rates follow from the sums of rates and of their squares. A
// transfer counts as at least a nanosecond, so that no rate is infinite.
func sumsOf(bytes int64, took time.Duration) iter.Seq2[string, float64] {
	took = max(took, time.Nanosecond)
	rate := float64(bytes) / megabyte / took.Seconds()
	return func(yield func(string, float64) bool) {
		_ = yield(sumRate, rate*1000) && yield(sumSquare, rate*rate*1000) &&
			yield(sumSize, float64(bytes)) && yield(sumTasks, 1) && yield(sumTime, took.Seconds()*1000)
	}
}

// parse adds the lines of an output file: name, tab, value. Any other line is an error,
// since the rates would be wrong without it.
func (s sums) parse(content string) error {
	for line := range strings.Lines(content) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("line %q: %w", line, err)
		}
		s[name] += value
	}
	return nil
}

// lines returns the results as Hadoop prints them:
//
//	throughput      all bytes over the sum of all times
//	average rate    the mean of the files' rates
//	deviation       √(mean of the squares − square of the mean)
func (s sums) lines(test string, now time.Time, took time.Duration) string {
	files := s[sumTasks]
	mean := s[sumRate] / 1000 / files
	deviation := math.Sqrt(math.Abs(s[sumSquare]/1000/files - mean*mean))
	var b strings.Builder
	for _, line := range [][2]string{
		{"----- TestDFSIO ----- ", test},
		{"            Date & time", now.Format("Mon Jan 02 15:04:05 MST 2006")},
		{"        Number of files", decimal(files)},
		{" Total MBytes processed", decimal(s[sumSize] / megabyte)},
		{"      Throughput mb/sec", decimal(s[sumSize] / megabyte / (s[sumTime] / 1000))},
		{" Average IO rate mb/sec", decimal(mean)},
		{"  IO rate std deviation", decimal(deviation)},
		{"     Test exec time sec", decimal(took.Seconds())},
	} {
		fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
	}
	return b.String() + "\n"
}

// decimal formats x with at most two places, as Java's format #.## does.
func decimal(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(x, 'f', 2, 64), "0"), ".")
}
