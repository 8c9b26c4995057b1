package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
)

// parts returns the files of an output: itself, or those of a directory in order of name
// without the ones that begin with _ or a dot. Such names are marks of jobs, such as
// _SUCCESS.
func parts(output string) ([]string, error) {
	info, err := os.Stat(output)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{output}, nil
	}
	return filepath.Glob(filepath.Join(output, "[^_.]*"))
}

// openOutput reads the files of an output one behind the other. The caller calls closeFiles,
// also after an error of the reader.
func openOutput(output string) (r io.Reader, closeFiles func(), err error) {
	names, err := parts(output)
	if err != nil {
		return nil, nil, err
	}
	var files []*os.File
	closeFiles = func() {
		for _, f := range files {
			f.Close()
		}
	}
	var readers []io.Reader
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			closeFiles()
			return nil, nil, err
		}
		files = append(files, f)
		readers = append(readers, f)
	}
	return io.MultiReader(readers...), closeFiles, nil
}

// sameBytes compares outputs as they are. Directories are compared as the concatenation of
// their parts.
func sameBytes(ours, rival string) error {
	a, closeA, err := openOutput(ours)
	if err != nil {
		return err
	}
	defer closeA()
	b, closeB, err := openOutput(rival)
	if err != nil {
		return err
	}
	defer closeB()
	return compare(a, b)
}

// compare returns an error with the first difference between two streams. It reads both in
// step, so it needs no memory for a whole output.
func compare(a, b io.Reader) error {
	var bufA, bufB [256 << 10]byte
	for offset := int64(0); ; {
		n, errA := io.ReadFull(a, bufA[:])
		m, errB := io.ReadFull(b, bufB[:])
		if !bytes.Equal(bufA[:n], bufB[:m]) {
			same := 0
			for same < min(n, m) && bufA[same] == bufB[same] {
				same++
			}
			return fmt.Errorf("outputs differ from byte %d on", offset+int64(same))
		}
		offset += int64(n)
		switch {
		case errA == nil && errB == nil:
		case isEnd(errA) && isEnd(errB):
			return nil
		default:
			return errors.Join(errA, errB)
		}
	}
}

// isEnd reports whether ReadFull has reached the end, with or without bytes before it.
func isEnd(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// sameCounts compares outputs with a word, a tab and a count in each line. The order of words is not
// compared, since rivals write them in the order of a hash table.
var sameCounts = sameRecords(identity)

// longestLine bounds the lines of outputs. The longest are those of an index.
const longestLine = 64 << 20

// records yields the lines of an output. A line is valid until the next is taken.
func records(output string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r, closeFiles, err := openOutput(output)
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

// linesOf returns the lines of a short output.
func linesOf(output string, form func([]byte) []byte) (lines []string, err error) {
	for line, err := range records(output) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, string(form(line)))
	}
	return lines, nil
}
