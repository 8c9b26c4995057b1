package task

import (
	"fmt"

	"github.com/hammr/hammr/dag"
)

// Channel is an edge of the graph as one of the Nodes that it joins sees it.
type Channel struct {
	Edge       int            // index in the graph's edges; of a file that several edges read, of the edge that has it
	Input      string         // the name under which the reader knows it
	From, To   string         // names of the stages
	Kind       dag.Channel    // file, stream or shared memory
	Connection dag.Connection // selects the Nodes that it joins
	Stored     bool           // whether the file is with the job's output

	// Peers are the numbers of the Nodes at the other end that this Node is
	// joined to, ascending; nil for all of them along an edge that is a file,
	// whose number may grow.
	Peers []int
}

// String names the channel in errors by its stages.
func (c Channel) String() string { return fmt.Sprintf("%s -> %s", c.From, c.To) }

// inputsOf returns the channels that lead to a Node, in the order of the graph. share
// returns the writers that a Node reads along a per-machine edge.
func inputsOf(g dag.Graph, stage, number int, share func(edge int) []int) []Channel {
	var channels []Channel
	for i, e := range g.Edges {
		if e.To != g.Stages[stage].Name {
			continue
		}
		c := channelOf(g.Files(i), e)
		switch {
		case e.Connection == dag.OneToOne:
			c.Peers = []int{number}
		case e.Connection == dag.PerMachine:
			c.Peers = share(i)
		case e.Channel != dag.ChannelFile:
			c.Peers = upTo(g.Stages[g.StageIndex(e.From)].Nodes)
		}
		channels = append(channels, c)
	}
	return channels
}

// outputsOf returns the channels that lead from a Node, in the order of the graph. A file that
// several edges read is one channel.
func outputsOf(g dag.Graph, stage, number int) []Channel {
	var channels []Channel
	for i, e := range g.Edges {
		if e.From != g.Stages[stage].Name || g.Files(i) != i {
			continue
		}
		c := channelOf(i, e)
		switch {
		case e.Connection == dag.OneToOne:
			c.Peers = []int{number}
		case e.Channel != dag.ChannelFile:
			c.Peers = upTo(g.Stages[g.StageIndex(e.To)].Nodes)
		}
		channels = append(channels, c)
	}
	return channels
}

// channelOf describes an edge without its peers.
func channelOf(place int, e dag.Edge) Channel {
	return Channel{
		Edge: place, Input: e.InputName(), From: e.From, To: e.To, Kind: e.Channel, Connection: e.Connection,
		Stored: e.Stored,
	}
}

// upTo returns the numbers from 0 to n-1. The result is not nil, because nil has a meaning
// in Channel.Peers.
func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// partition returns the partition of each writer's output that a reader reads along an edge
// that is a file. Only an all-to-all edge divides the output.
func (c Channel) partition(reader int) int {
	if c.Connection == dag.AllToAll {
		return reader
	}
	return 0
}

// channelsOf returns the channels of a kind.
func channelsOf(channels []Channel, kind dag.Channel) (out []Channel) {
	for _, c := range channels {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	return out
}

// isLive reports whether both ends of a channel run at the same time, so that a checkpoint
// has to drain it.
func (c Channel) isLive() bool { return c.Kind != dag.ChannelFile }

// fileChannels returns the channels that are files.
func fileChannels(channels []Channel) []Channel { return channelsOf(channels, dag.ChannelFile) }
