package teravalidate

import (
	"fmt"
	"iter"
	"math/bits"
	"path"
	"strconv"
)

// checksum is a sum of CRC32s, in 128 bits.
// The order of rows does not change it, so it is the same before and after the sort.
type checksum struct{ Hi, Lo uint64 }

func (c *checksum) add(crc uint32) { c.addAll(checksum{Lo: uint64(crc)}) }

func (c *checksum) addAll(d checksum) {
	var carry uint64
	c.Lo, carry = bits.Add64(c.Lo, d.Lo, 0)
	c.Hi, _ = bits.Add64(c.Hi, d.Hi, carry)
}

// String returns the sum in hexadecimal, as Hadoop writes it.
func (c checksum) String() string {
	if c.Hi == 0 {
		return strconv.FormatUint(c.Lo, 16)
	}
	return fmt.Sprintf("%x%016x", c.Hi, c.Lo)
}

// parseChecksum reads the text that String returns.
func parseChecksum(text string) (c checksum) {
	cut := max(len(text)-16, 0)
	c.Hi, _ = strconv.ParseUint(text[:cut], 16, 64)
	c.Lo, _ = strconv.ParseUint(text[cut:], 16, 64)
	return c
}

// total returns the sum of all checksums.
func total(found iter.Seq[finding]) string {
	var all checksum
	for f := range found {
		all.addAll(parseChecksum(f.Second))
	}
	return all.String()
}

// disorders yields a message for each place where one stretch of rows does not
// sort after the stretch before it: first within a file, then between files.
func disorders(found iter.Seq[finding]) iter.Seq[string] {
	return func(yield func(string) bool) {
		var file finding // the current file: its first and its last key so far
		var between []string
		for next := range found {
			if next.First != file.First {
				between = append(between, betweenFiles(file, next)...)
				file = next
				continue
			}
			if next.Second < file.Third && !yield(withinFile(file, next)) {
				return
			}
			file.Third = next.Third
		}
		for _, fault := range append(between, betweenFiles(file, finding{})...) {
			if !yield(fault) {
				return
			}
		}
	}
}

func withinFile(file, next finding) string {
	return fmt.Sprintf("misorder in %s between % x and % x", path.Base(file.First), file.Third, next.Second)
}

// betweenFiles compares the first and the last key of a file, and its last key with the
// first key of the next file, as Hadoop does. A finding without a file name stands for no
// file.
func betweenFiles(file, next finding) (lines []string) {
	const format = "bad key partitioning:\n  file %s key % x\n  file %s key % x"
	name, nextName := path.Base(file.First), path.Base(next.First)
	if file.First != "" && file.Third < file.Second {
		lines = append(lines, fmt.Sprintf(format, name+":begin", file.Second, name+":end", file.Third))
	}
	if file.First != "" && next.First != "" && next.Second < file.Third {
		lines = append(lines, fmt.Sprintf(format, name+":end", file.Third, nextName+":begin", next.Second))
	}
	return lines
}
