package taskproc

import "github.com/hammr/hammr/dag"

// FromPosition encodes a position.
func FromPosition(p dag.Position) *Position { return &Position{Offset: p.Offset, Skip: p.Skip} }

// ToPosition decodes a position; nil is the beginning.
func ToPosition(p *Position) dag.Position {
	return dag.Position{Offset: p.GetOffset(), Skip: p.GetSkip()}
}

// FromRange encodes a range.
func FromRange(r dag.Range) *Range {
	return &Range{Start: FromPosition(r.Start), End: FromPosition(r.End)}
}

// ToRange decodes a range; nil is empty.
func ToRange(r *Range) dag.Range {
	return dag.Range{Start: ToPosition(r.GetStart()), End: ToPosition(r.GetEnd())}
}
