package rivals

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/bench"
)

// longestLine bounds the lines of outputs. The longest are those of an index.
const longestLine = 64 << 20

// records yields the lines of an output. A line is valid until the next is taken.
func records(output string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r, closeFiles, err := bench.OpenOutput(output)
		if err != nil {
			yield(nil, err)
			return
		}
		defer closeFiles()
		s := bufio.NewScanner(bufio.NewReaderSize(r, 1<<20))
		s.Buffer(nil, longestLine)
		for s.Scan() {
			if !yield(s.Bytes(), nil) {
				return
			}
		}
		if s.Err() != nil {
			yield(nil, fmt.Errorf("%s: %w", output, s.Err()))
		}
	}
}

// countFirst turns a line of uniq -c into a record of the word, a tab and its count.
func countFirst(line []byte) []byte {
	count, word, _ := bytes.Cut(bytes.TrimLeft(line, " "), []byte(" "))
	return append(append(bytes.Clone(word), '\t'), count...)
}

// identity is the form of records of all but uniq -c.
func identity(line []byte) []byte { return line }

// buckets is the number of parts into which records are divided by their hash.
const buckets = 1 << 12

// digest is the number of the records in each bucket, and the sums of their hashes. It does
// not depend on their order.
type digest [buckets]struct{ records, sum uint64 }

// digestOf reads an output once. form brings a line into the form of our records.
func digestOf(output string, seed maphash.Seed, form func([]byte) []byte) (d digest, n uint64, err error) {
	for line, err := range records(output) {
		if err != nil {
			return d, n, err
		}
		h := maphash.Bytes(seed, form(line))
		b := &d[h%buckets]
		b.records++
		b.sum += h
		n++
	}
	return d, n, nil
}

// sameRecords returns the comparison of two outputs as multisets of lines, in any order. The
// rival's lines have another form. The comparison takes little memory, however long the outputs
// are: only records of a bucket with a difference are read into memory.
func sameRecords(form func([]byte) []byte) func(ours, rival string) error {
	return func(ours, rival string) error {
		seed := maphash.MakeSeed()
		a, n, errA := digestOf(ours, seed, identity)
		b, m, errB := digestOf(rival, seed, form)
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
		for i := range a {
			if a[i] == b[i] {
				continue
			}
			inA, errA := bucketOf(ours, seed, identity, uint64(i))
			inB, errB := bucketOf(rival, seed, form, uint64(i))
			if err := errors.Join(errA, errB); err != nil {
				return err
			}
			return fmt.Errorf("results differ: %d records, rival %d; %w", n, m, difference(inA, inB))
		}
		return nil
	}
}

// bucketOf returns the records of a bucket in order.
func bucketOf(output string, seed maphash.Seed, form func([]byte) []byte, bucket uint64) (found []string, err error) {
	for line, err := range records(output) {
		if err != nil {
			return nil, err
		}
		if line = form(line); maphash.Bytes(seed, line)%buckets == bucket {
			found = append(found, string(line))
		}
	}
	slices.Sort(found)
	return found, nil
}

// difference names the first record that only one side has, or nil.
func difference(ours, rival []string) error {
	for i := range max(len(ours), len(rival)) {
		switch {
		case i == len(ours):
			return fmt.Errorf("only the rival has %q", rival[i])
		case i == len(rival):
			return fmt.Errorf("only ours has %q", ours[i])
		case ours[i] < rival[i]:
			return fmt.Errorf("only ours has %q; the rival has %q next", ours[i], rival[i])
		case ours[i] > rival[i]:
			return fmt.Errorf("only the rival has %q; ours has %q next", rival[i], ours[i])
		}
	}
	return nil
}

// sameLines returns the comparison of two short outputs whose order counts.
func sameLines(form func([]byte) []byte) func(ours, rival string) error {
	return func(ours, rival string) error {
		a, errA := linesOf(ours, identity)
		b, errB := linesOf(rival, form)
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
		for i := range max(len(a), len(b)) {
			if i == len(a) || i == len(b) {
				return fmt.Errorf("results differ: %d lines, rival %d", len(a), len(b))
			}
			if a[i] != b[i] {
				return fmt.Errorf("results differ in line %d: %q, rival %q", i+1, a[i], b[i])
			}
		}
		return nil
	}
}

func linesOf(output string, form func([]byte) []byte) (lines []string, err error) {
	for line, err := range records(output) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, string(form(line)))
	}
	return lines, nil
}

// tolerance is how far numbers of two results may be apart: absolute plus relative to the
// greater of both.
type tolerance struct{ absolute, relative float64 }

func (t tolerance) allows(a, b float64) bool {
	return math.Abs(a-b) <= t.absolute+t.relative*max(math.Abs(a), math.Abs(b))
}

// compare compares two outputs with a key in front of each line and numbers behind it. Lines
// may have any order. All are in memory.
func (t tolerance) compare(ours, rival string) error {
	a, errA := linesOf(ours, identity)
	b, errB := linesOf(rival, identity)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if len(a) != len(b) {
		return fmt.Errorf("results differ: %d records, rival %d", len(a), len(b))
	}
	slices.Sort(a)
	slices.Sort(b)
	for i := range a {
		if !t.sameNumbers(strings.Fields(a[i]), strings.Fields(b[i])) {
			return fmt.Errorf("results differ by more than %g and %g of the number: %q, rival %q", t.absolute, t.relative, a[i], b[i])
		}
	}
	return nil
}

// sameNumbers compares the fields of two lines. The first is the key.
func (t tolerance) sameNumbers(a, b []string) bool {
	if len(a) != len(b) || len(a) == 0 || a[0] != b[0] {
		return false
	}
	for i := 1; i < len(a); i++ {
		x, errX := strconv.ParseFloat(a[i], 64)
		y, errY := strconv.ParseFloat(b[i], 64)
		if errX != nil || errY != nil || !t.allows(x, y) {
			return false
		}
	}
	return true
}
