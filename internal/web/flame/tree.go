package flame

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Bounds of a tree.
const (
	MaxDepth  = 200     // frames of a stack; the values of deeper ones count for the last frame
	maxFrames = 200_000 // of the tree; what further stacks have in common with it counts for their last common frame
)

// rootName is the name of the root. No function has a space in its name.
const rootName = "whole profile"

// Tree has the stacks of a profile with what they have in common: each frame is below its caller. Frame
// 0 is the root, which is the whole profile.
//
// Value of a frame = Self + the sum of the Values of the frames that it calls.
type Tree struct {
	Frames []Frame
	Type   Type
	Cut    int64 // value of stacks whose end is not in the tree
}

// Frame is a frame of a tree: a function as called by those above it.
type Frame struct {
	Name   string
	Value  int64 // of the function and what it has called
	Self   int64 // of the function alone
	Caller int   // frame above; less than the number of the frame itself
	Depth  int   // of the root: 0
	calls  []int
}

// callee identifies a frame.
type callee struct {
	caller int
	name   string
}

// Tree returns the tree of the values of a type.
func (p *Profile) Tree(typeName string) (*Tree, error) {
	at, err := p.typeAt(typeName)
	if err != nil {
		return nil, err
	}
	t := &Tree{Frames: []Frame{{Name: rootName}}, Type: p.types[at]}
	places, names := make(map[callee]int), make(map[*profile.Function]string)
	for _, s := range p.profile.Sample {
		value := s.Value[at]
		if value <= 0 { // profiles of the runtime have no negative ones
			continue
		}
		if value > math.MaxInt64-t.Frames[0].Value {
			return nil, errors.New("malformed profile: the sum of its values is too large")
		}
		t.add(stackOf(s, names), value, places)
	}
	for i := range t.Frames {
		slices.SortFunc(t.Frames[i].calls, func(a, b int) int {
			return cmp.Or(cmp.Compare(t.Frames[b].Value, t.Frames[a].Value), cmp.Compare(t.Frames[a].Name, t.Frames[b].Name))
		})
	}
	return t, nil
}

// add adds a stack, from the outermost function.
func (t *Tree) add(stack []string, value int64, places map[callee]int) {
	at := 0
	t.Frames[0].Value += value
	for _, name := range stack {
		key := callee{at, name}
		next, known := places[key]
		if !known {
			if t.Frames[at].Depth == MaxDepth || len(t.Frames) == maxFrames {
				t.Cut += value
				break
			}
			next = len(t.Frames)
			places[key] = next
			t.Frames = append(t.Frames, Frame{Name: name, Caller: at, Depth: t.Frames[at].Depth + 1})
			t.Frames[at].calls = append(t.Frames[at].calls, next)
		}
		at = next
		t.Frames[at].Value += value
	}
	t.Frames[at].Self += value
}

// stackOf returns the functions of a sample, from the outermost. A location has several if functions
// are inlined. names keeps those of functions. Of a deep stack it returns one more than MaxDepth.
func stackOf(s *profile.Sample, names map[*profile.Function]string) (stack []string) {
	for _, l := range slices.Backward(s.Location) {
		before := len(stack)
		for _, line := range slices.Backward(l.Line) {
			if line.Function == nil {
				continue
			}
			name, known := names[line.Function]
			if !known {
				name = nameOf(cmp.Or(line.Function.Name, "(no name)"))
				names[line.Function] = name
			}
			if stack = append(stack, name); len(stack) > MaxDepth {
				return stack
			}
		}
		if len(stack) == before {
			stack = append(stack, fmt.Sprintf("%#x", l.Address))
		}
		if len(stack) > MaxDepth {
			return stack
		}
	}
	return stack
}

// Rect is a frame in the picture. Sizes are in units of the picture's width.
type Rect struct {
	Frame    int
	X, Width float64
	Row      int // 0 on top
}

// Bounds of a picture.
const (
	maxRects = 2000
	minWidth = 1 // of a frame that is drawn
)

// Layout returns the picture of a frame, as wide as the picture: its callers above it, each as wide,
// and below it what it has called. leftOut is how many of these are too narrow, or too many, without those
// that they have called.
func (t *Tree) Layout(frame int, width float64) (rects []Rect, leftOut int) {
	for at := frame; ; at = t.Frames[at].Caller {
		rects = append(rects, Rect{Frame: at, Width: width, Row: t.Frames[at].Depth})
		if at == 0 {
			break
		}
	}
	slices.Reverse(rects)
	unit := width / max(1, float64(t.Frames[frame].Value))
	for i := len(rects) - 1; i < len(rects); i++ {
		x := rects[i].X
		for _, called := range t.Frames[rects[i].Frame].calls {
			w := unit * float64(t.Frames[called].Value)
			if w < minWidth || len(rects) >= maxRects {
				leftOut++
			} else {
				rects = append(rects, Rect{called, x, w, rects[i].Row + 1})
			}
			x += w
		}
	}
	return rects, leftOut
}

// Function is a line of a table.
type Function struct {
	Name       string
	Flat       int64 // of the function alone
	Cumulative int64 // of the function and what it has called; recursive calls count once
}

// Top returns the functions of a part of the tree: those with the highest flat values, at most n.
func (t *Tree) Top(frame, n int) []Function {
	byName := make(map[string]*Function)
	active := make(map[string]int) // calls of a function on the way to the present frame
	var visit func(at int)
	visit = func(at int) {
		f := &t.Frames[at]
		total := byName[f.Name]
		if total == nil {
			total = &Function{Name: f.Name}
			byName[f.Name] = total
		}
		total.Flat += f.Self
		if active[f.Name] == 0 {
			total.Cumulative += f.Value
		}
		active[f.Name]++
		for _, called := range f.calls {
			visit(called)
		}
		active[f.Name]--
	}
	visit(frame)
	if frame == 0 {
		delete(byName, t.Frames[0].Name) // the root is no function
	}
	list := make([]Function, 0, len(byName))
	for _, f := range byName {
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Flat, a.Flat), cmp.Compare(b.Cumulative, a.Cumulative), strings.Compare(a.Name, b.Name))
	})
	return list[:min(n, len(list))]
}

// Matching returns the value of the part of the stacks below a frame that have a function whose name
// matches.
func (t *Tree) Matching(frame int, match func(name string) bool) (value int64) {
	if frame > 0 && match(t.Frames[frame].Name) {
		return t.Frames[frame].Value
	}
	for _, called := range t.Frames[frame].calls {
		value += t.Matching(called, match)
	}
	return value
}
