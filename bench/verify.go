package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	closeFiles = func() { closeAll(files) }
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
			return fmt.Errorf("outputs differ from byte %d on", offset+int64(commonPrefix(bufA[:n], bufB[:m])))
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

// commonPrefix returns the number of equal bytes at the beginning.
func commonPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// sameCounts compares outputs with a word, a tab and a count in each line. The order of words is not
// compared, since rivals write them in the order of a hash table.
var sameCounts = SameRecords(Identity)
