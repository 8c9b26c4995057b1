package checkpoint

import (
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle"
)

// MergeInputs encodes sorted runs, and how far each has been read.
func MergeInputs(state []shuffle.MergeInputState) (messages []*taskproc.MergeInput) {
	for _, s := range state {
		messages = append(messages, mergeInput(s))
	}
	return messages
}

func mergeInput(s shuffle.MergeInputState) *taskproc.MergeInput {
	return &taskproc.MergeInput{
		Path: s.Path, Offset: s.Run.Offset, Length: s.Run.Length, RawLength: s.Run.RawLength,
		Records: s.Run.Records, Checksum: s.Run.Checksum, Tagged: s.Run.Tagged,
		BlockOffset: s.From.BlockOffset, BlockRecord: s.From.Record,
		Input: s.Ordinal.Input, Start: taskproc.FromPosition(s.Ordinal.Start), Sequence: s.Sequence,
	}
}

// MergeStates decodes the sorted runs of a checkpoint.
func MergeStates(inputs []*taskproc.MergeInput) []shuffle.MergeInputState {
	var state []shuffle.MergeInputState
	for _, m := range inputs {
		state = append(state, shuffle.MergeInputState{
			Path: m.Path, Sequence: m.Sequence,
			Ordinal: shuffle.Ordinal{Input: m.Input, Start: taskproc.ToPosition(m.Start)},
			Run: shuffle.Run{
				Offset: m.Offset, Length: m.Length, RawLength: m.RawLength,
				Records: m.Records, Checksum: m.Checksum, Tagged: m.Tagged,
			},
			From: shuffle.RunPosition{BlockOffset: m.BlockOffset, Record: m.BlockRecord},
		})
	}
	return state
}
