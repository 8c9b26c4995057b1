package pagerank

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	"github.com/hammr/hammr/mr"
)

// One is the rank 1, the mean of all ranks. Shares of a rank below a billionth are lost.
const One = 1_000_000_000

// A random surfer follows a link with probability 17/20, the usual damping factor 0.85.
// Otherwise the surfer continues at any node.
const (
	follow = 17
	outOf  = 20
)

// NewRank returns the rank of a node after a round. received is the rank that came over its
// links. stranded is the rank of all nodes without links, which all nodes share equally.
func NewRank(received, stranded, nodes int64) int64 {
	return One*(outOf-follow)/outOf + (received+stranded/nodes)*follow/outOf
}

// Nodes is a mapper for lines of a node and the nodes that it links to. It emits each link,
// and each node with an empty value, so that nodes without links have a group too.
func Nodes(_ *mr.Task, from, to []byte, out mr.Emitter[[]byte, []byte]) error {
	out.Emit(from, nil)
	for target := range bytes.SplitSeq(to, []byte{'\t'}) {
		if len(target) > 0 {
			out.Emit(from, target)
			out.Emit(target, nil)
		}
	}
	return nil
}

// Links joins the targets that Nodes has emitted for a node, with tabs between.
func Links(targets iter.Seq[[]byte]) string {
	var links []string
	for target := range targets {
		if len(target) > 0 {
			links = append(links, string(target))
		}
	}
	return strings.Join(links, "\t")
}

// Shares yields each target of links with its equal share of a rank. It yields nothing for a
// node without links.
func Shares(rank int64, links string) iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		if links == "" {
			return
		}
		share := rank / int64(1+strings.Count(links, "\t"))
		for target := range strings.SplitSeq(links, "\t") {
			if !yield(target, share) {
				return
			}
		}
	}
}

// AppendRank appends a rank as a decimal number with nine digits after the point.
func AppendRank(dst []byte, rank int64) []byte {
	return fmt.Appendf(dst, "%d.%09d", rank/One, rank%One)
}
