package streaming

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
)

// inputFile is the setting with the full name of the file that a map reads.
const inputFile = "mapreduce_map_input_file"

// indexMap writes word, file and count for each word of its split.
func indexMap(t *Task) error {
	counts := make(map[string]int64)
	for line := range lines(t.In) {
		for word := range bytes.FieldsSeq(line) {
			counts[string(word)]++
		}
	}
	file := t.Getenv(inputFile)
	for word, n := range counts {
		t.emit([]byte(word), []byte(file), strconv.AppendInt(nil, n, 10))
	}
	return nil
}

// indexReduce writes a word and file:count for each of its files, in order of their names.
func indexReduce(t *Task) error {
	for word, values := range groups(t.In) {
		counts := make(map[string]int64)
		for _, v := range values {
			file, count, _ := bytes.Cut(v, tab)
			n, err := strconv.ParseInt(string(count), 10, 64)
			if err != nil {
				return err
			}
			counts[string(file)] += n
		}
		fields := [][]byte{word}
		for _, file := range slices.Sorted(maps.Keys(counts)) {
			fields = append(fields, fmt.Appendf(nil, "%s:%d", file, counts[file]))
		}
		t.emit(fields...)
	}
	return nil
}

// joinMap puts 0 before the values of the file that the setting LEFT names, and 1 before those of
// other files. Hadoop sorts by both the key and this number.
func joinMap(t *Task) error {
	side := []byte{'1'}
	if path.Base(t.Getenv(inputFile)) == t.Getenv("LEFT") {
		side[0] = '0'
	}
	for key, value := range lines(t.In) {
		t.emit(key, side, value)
	}
	return nil
}

// joinReduce writes key, left value and right value for each pair of a key. It keeps the left values
// of a key in memory.
func joinReduce(t *Task) error {
	var last []byte
	var lefts [][]byte
	for key, rest := range lines(t.In) {
		if !bytes.Equal(key, last) {
			last, lefts = append(last[:0], key...), nil
		}
		side, value, _ := bytes.Cut(rest, tab)
		if side[0] == '0' {
			lefts = append(lefts, bytes.Clone(value))
			continue
		}
		for _, left := range lefts {
			t.emit(key, left, value)
		}
	}
	return nil
}
