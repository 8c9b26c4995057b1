package taskproc

import "github.com/hammr/hammr/dag"

// FromPosition is p as a message.
func FromPosition(p dag.Position) *Position { return &Position{Offset: p.Offset, Skip: p.Skip} }

// ToPosition is the position of a message; that of nil is the beginning.
func ToPosition(p *Position) dag.Position {
	return dag.Position{Offset: p.GetOffset(), Skip: p.GetSkip()}
}

// FromRange is r as a message.
func FromRange(r dag.Range) *Range {
	return &Range{Start: FromPosition(r.Start), End: FromPosition(r.End)}
}

// ToRange is the range of a message; that of nil is empty.
func ToRange(r *Range) dag.Range {
	return dag.Range{Start: ToPosition(r.GetStart()), End: ToPosition(r.GetEnd())}
}
