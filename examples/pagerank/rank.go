package pagerank

import (
	"bytes"
	"iter"
	"strconv"

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
// and a node that may have no links with an empty value, so that it has a group too.
func Nodes(_ *mr.Task, from, to []byte, out mr.Emitter[[]byte, []byte]) error {
	linked := false
	for target := range bytes.SplitSeq(to, []byte{'\t'}) {
		if len(target) > 0 {
			linked = true
			out.Emit(from, target)
			out.Emit(target, nil)
		}
	}
	if !linked {
		out.Emit(from, nil)
	}
	return nil
}

// AppendLinks appends the targets that Nodes has emitted for a node to an empty dst, with tabs
// between.
func AppendLinks(dst []byte, targets iter.Seq[[]byte]) []byte {
	for target := range targets {
		if len(target) == 0 {
			continue
		}
		if len(dst) > 0 {
			dst = append(dst, '\t')
		}
		dst = append(dst, target...)
	}
	return dst
}

// Shares yields each target of links with its equal share of a rank. It yields nothing for a
// node without links.
func Shares(rank int64, links []byte) iter.Seq2[[]byte, int64] {
	return func(yield func([]byte, int64) bool) {
		share := rank / int64(1+bytes.Count(links, []byte{'\t'}))
		for len(links) > 0 {
			end := bytes.IndexByte(links, '\t')
			if end < 0 {
				yield(links, share)
				return
			}
			if !yield(links[:end], share) {
				return
			}
			links = links[end+1:]
		}
	}
}

// AppendRank appends a rank as a decimal number with nine digits after the point.
func AppendRank(dst []byte, rank int64) []byte {
	dst = strconv.AppendInt(dst, rank/One, 10)
	point := len(dst)
	dst = strconv.AppendInt(dst, One+rank%One, 10) // a 1 and nine digits
	dst[point] = '.'
	return dst
}
