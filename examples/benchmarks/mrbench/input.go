package mrbench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// mapsProperty is the number of maps. They share the input evenly.
const mapsProperty = "mrbench.maps"

// pieces is an Input that cuts a text file into one split for each map. A split may begin in
// the middle of a line: a line belongs to the map in whose split it begins. pieces also
// shows how to write an Input: it implements only Splits, and takes the other methods from
// mr.TextLines.
type pieces struct{ mr.Input[int64, []byte] }

// Splits implements mr.Input.
func (pieces) Splits(ctx context.Context, env *mr.InputEnv) ([]mr.Split, error) {
	maps, err := strconv.ParseInt(env.Property(mapsProperty), 10, 32)
	if err != nil || maps < 1 || len(env.Paths) != 1 {
		return nil, fmt.Errorf("input %q in %s=%s pieces: expected one file, and at least one piece",
			env.Paths, mapsProperty, env.Property(mapsProperty))
	}
	fsys, path, err := env.Files.Resolve(ctx, env.Paths[0])
	if err != nil {
		return nil, err
	}
	info, err := fsys.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	return cut(fsys.URI()+path, info.Size, maps), nil
}

// cut cuts a file into n splits that differ by a byte at most.
// The first splits have the bytes that do not divide evenly, one each.
func cut(name string, size, n int64) []mr.Split {
	splits := make([]mr.Split, n)
	share, more := size/n, size%n
	start := int64(0)
	for i := range splits {
		length := share
		if int64(i) < more {
			length++
		}
		splits[i].Parts = []mr.Part{{Path: name, Start: start, Length: length, FileSize: size}}
		start += length
	}
	return splits
}

// writeLines writes the input: one number in each line, padded with zeros to the same width.
// All lines have the same length, so the splits have nearly the same number of lines.
func (o *options) writeLines(w io.Writer) error {
	b := bufio.NewWriter(w)
	width := o.width()
	for line := range o.lines {
		fmt.Fprintf(b, "%0*d\n", width, o.number(line))
	}
	return b.Flush()
}

// width returns the number of digits in each line. The greatest number must fit, and each
// map must get at least one byte.
func (o *options) width() int64 {
	perLine := (o.maps + max(o.lines, 1) - 1) / max(o.lines, 1)
	return max(int64(len(fmt.Sprint(o.lines))), perLine)
}

// number returns the number in a line; lines count from 0. The random order may repeat
// numbers.
func (o *options) number(line int64) int64 {
	switch o.order {
	case descending:
		return o.lines - line
	case random:
		return rand.Int64()
	}
	return line
}
