package streaming

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/examples/pagerank"
)

// Settings of a round, by which it knows what the rounds before have found.
const (
	Nodes    = "NODES"    // number of nodes, and the counter of links
	Stranded = "STRANDED" // rank of nodes without links, and the counter of a round
	Last     = "LAST"     // not empty in the last round, which writes results
)

// linksMap writes each link, and each node with an empty value.
func linksMap(t *Task) error {
	for node, target := range lines(t.In) {
		t.emit(node, target)
		t.emit(target, nil)
	}
	return nil
}

// linksReduce writes the state of each node: its rank, which is 1, and its links.
func linksReduce(t *Task) error {
	for node, targets := range groups(t.In) {
		t.counts[Nodes]++
		t.state(node, pagerank.One, pagerank.AppendLinks(nil, slices.Values(targets)))
	}
	return nil
}

// state writes the state of a node, and counts the rank of a node without links.
func (t *Task) state(node []byte, rank int64, links []byte) {
	if len(links) == 0 {
		t.counts[Stranded] += rank
	}
	t.emit(node, strconv.AppendInt(nil, rank, 10), links)
}

// kept marks the value with the links of a node among shares of rank.
var kept = []byte{'='}

// rankMap writes the links of each node, and an equal share of its rank for each of them.
func rankMap(t *Task) error {
	for node, state := range lines(t.In) {
		first, links, _ := bytes.Cut(state, tab)
		rank, err := strconv.ParseInt(string(first), 10, 64)
		if err != nil {
			return err
		}
		t.emit(node, append(kept[:1:1], links...))
		for target, share := range pagerank.Shares(rank, links) {
			t.emit(target, strconv.AppendInt(nil, share, 10))
		}
	}
	return nil
}

// rankReduce writes the new state of each node, or its rank in the last round.
func rankReduce(t *Task) error {
	nodes, err := strconv.ParseInt(t.Getenv(Nodes), 10, 64)
	if err != nil {
		return err
	}
	stranded, err := strconv.ParseInt(t.Getenv(Stranded), 10, 64)
	if err != nil {
		return err
	}
	for node, values := range groups(t.In) {
		var received int64
		var links []byte
		for _, v := range values {
			if found, ok := bytes.CutPrefix(v, kept); ok {
				links = found
				continue
			}
			share, err := strconv.ParseInt(string(v), 10, 64)
			if err != nil {
				return err
			}
			received += share
		}
		rank := pagerank.NewRank(received, stranded, nodes)
		if t.Getenv(Last) != "" {
			t.emit(node, pagerank.AppendRank(nil, rank))
			continue
		}
		t.state(node, rank, links)
	}
	return nil
}

// CentresFile is the file in the directory of a task that has a centre in each line.
const CentresFile = "centres"

// cloud is the sum of points, or a centre.
type cloud struct {
	points int64
	sum    []float64
}

// parseCloud reads numbers with spaces between.
func parseCloud(text string) (c cloud, err error) {
	for field := range strings.FieldsSeq(text) {
		x, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return c, err
		}
		c.sum = append(c.sum, x)
	}
	return c, nil
}

// add adds coordinates.
func (c *cloud) add(sum []float64, points int64) {
	if c.sum == nil {
		c.sum = make([]float64, len(sum))
	}
	for i, x := range sum {
		c.sum[i] += x
	}
	c.points += points
}

// centres reads CentresFile.
func (t *Task) centres() (all []cloud, err error) {
	f, err := t.Dir.Open(CentresFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for line := range lines(f) {
		c, err := parseCloud(string(line))
		if err != nil {
			return nil, fmt.Errorf("centre %q: %w", line, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// centresMap writes for each centre the number and the sum of the points that are nearest to it.
func centresMap(t *Task) error {
	centres, err := t.centres()
	if err != nil {
		return err
	}
	near := make([]cloud, len(centres))
	for line := range lines(t.In) {
		p, err := parseCloud(string(line))
		if err != nil {
			return err
		}
		near[nearest(p.sum, centres)].add(p.sum, 1)
	}
	for n, c := range near {
		if c.points == 0 {
			c.sum = centres[n].sum // for its place, if no map has a point near it
		}
		t.emit(fmt.Appendf(nil, "%05d", n), fmt.Append(nil, c.points), []byte(join(c.sum)))
	}
	return nil
}

// nearest returns the number of the centre that is nearest to a point, the first of several.
func nearest(point []float64, centres []cloud) (at int) {
	least := -1.0
	for n, c := range centres {
		square := 0.0
		for i, x := range point {
			square += (x - c.sum[i]) * (x - c.sum[i])
		}
		if least < 0 || square < least {
			least, at = square, n
		}
	}
	return at
}

// join returns numbers with spaces between.
func join(numbers []float64) string {
	var b []byte
	for _, x := range numbers {
		b = append(strconv.AppendFloat(b, x, 'g', -1, 64), ' ')
	}
	return string(bytes.TrimSpace(b))
}

// centresReduce writes the new centres, one a line in their order. The last round writes the number
// of each, and the number of its points. A centre without points stays.
func centresReduce(t *Task) error {
	for key, values := range groups(t.In) {
		n, err := strconv.Atoi(string(key))
		if err != nil {
			return err
		}
		var all, place cloud
		for _, v := range values {
			count, sum, _ := strings.Cut(string(v), "\t")
			points, err := strconv.ParseInt(count, 10, 64)
			if err != nil {
				return err
			}
			c, err := parseCloud(sum)
			if err != nil {
				return err
			}
			if points == 0 {
				place = c
				continue
			}
			all.add(c.sum, points)
		}
		if all.points == 0 {
			all.sum = place.sum
		}
		for i := range all.sum {
			all.sum[i] /= float64(max(all.points, 1))
		}
		if t.Getenv(Last) != "" {
			t.emit(fmt.Append(nil, n), []byte(join(all.sum)), fmt.Append(nil, all.points))
			continue
		}
		t.emit([]byte(join(all.sum)))
	}
	return nil
}
