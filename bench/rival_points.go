package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/hammr/hammr/bench/data"
)

// Shape of the workload kmeans, with its number of centres.
const (
	Centres          = 16
	kmeansRounds     = 10
	kmeansDimensions = 8
)

// Files of the input of kmeans: the points, and the initial centres.
const (
	PointsFile  = "points"
	CentresFile = "centres"
)

// start is a point that may be an initial centre, with its hash.
type start struct {
	hash uint64
	line string
}

// pointFiles writes points with coordinates from 0 to 1000 around sixteen places, and the
// initial centres. Ours takes as initial centres the points with the least hashes. The rivals read them from a file, so all begin with the same.
func pointFiles(_ context.Context, dir string, r *rand.Rand, size int64) error {
	points := scaled(fullPoints, size, 10*Centres)
	var places [Centres][kmeansDimensions]float64
	for i := range places {
		for j := range places[i] {
			places[i][j] = 100 + 800*r.Float64()
		}
	}
	var least []start
	err := data.File(filepath.Join(dir, PointsFile), func(w *bufio.Writer) error {
		var line []byte
		for range points {
			var hash uint64
			line, hash = appendPoint(line[:0], r, places[r.IntN(Centres)])
			least = insertStart(least, hash, line)
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, data.File(filepath.Join(dir, CentresFile), func(w *bufio.Writer) error {
		for _, s := range least {
			fmt.Fprintln(w, s.line) // the writer keeps its error
		}
		return nil
	}))
}

// appendPoint appends the coordinates of a point near a place, with blanks between. They have
// up to three digits after the point. It returns the hash by which our program orders points:
// FNV-1a of the coordinates in millionths and the number 1, each in 8 bytes.
func appendPoint(dst []byte, r *rand.Rand, place [kmeansDimensions]float64) ([]byte, uint64) {
	var hashed []byte
	for i, at := range place {
		if i > 0 {
			dst = append(dst, ' ')
		}
		thousandths := int64(min(max(at+60*r.NormFloat64(), 0), 1000) * 1000)
		dst = fmt.Appendf(dst, "%d.%03d", thousandths/1000, thousandths%1000)
		dst = bytes.TrimRight(dst, "0")
		dst = bytes.TrimSuffix(dst, []byte("."))
		hashed = binary.LittleEndian.AppendUint64(hashed, uint64(thousandths*1000))
	}
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(hashed, 1)) // never fails
	return dst, h.Sum64()
}

// insertStart adds a line to the starts with the least hashes, in order and without duplicates.
func insertStart(least []start, hash uint64, line []byte) []start {
	if len(least) == Centres && hash > least[Centres-1].hash {
		return least
	}
	least = append(least, start{hash, string(line)})
	slices.SortFunc(least, func(a, b start) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.line, b.line)) })
	least = slices.Compact(least)
	return least[:min(len(least), Centres)]
}
