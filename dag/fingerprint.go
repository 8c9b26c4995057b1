package dag

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Fingerprint is a short hash of everything in the graph. Two graphs with the same stages
// and edges in the same order have the same fingerprint, in every version. A task compares
// the fingerprint of its job with that of its own program.
func (g Graph) Fingerprint() string {
	sum := sha256.Sum256([]byte(g.String()))
	return hex.EncodeToString(sum[:8])
}

// String lists the graph, with a line for each stage and each edge. A line has no text for
// what the graph does not use, so that new fields do not change the fingerprint.
func (g Graph) String() string {
	var b strings.Builder
	for _, s := range g.Stages {
		fmt.Fprintf(&b, "stage %q %d %v", s.Name, s.Nodes, s.Slots)
		if len(s.Inputs) > 0 {
			fmt.Fprintf(&b, " inputs %q", s.Inputs)
		}
		b.WriteByte('\n')
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "edge %v %v %v", e, e.Channel, e.Connection)
		if e.Input != "" {
			fmt.Fprintf(&b, " input %q", e.Input)
		}
		if e.Stored {
			b.WriteString(" stored")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
