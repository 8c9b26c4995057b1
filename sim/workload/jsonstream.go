package workload

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonStream reads a sequence of JSON values, or the elements of one array. It knows the
// line on which each begins. encoding/json reports offsets in bytes and reads ahead. Users
// need lines, so the stream counts line ends below the decoder.
type jsonStream struct {
	source string
	lines  lineCounter
	in     *bufio.Reader
	dec    *json.Decoder
	begin  int64 // bytes of white space before the first value
	array  bool
}

// newJSONStream returns a stream, which reads nothing before next.
func newJSONStream(r io.Reader, source string) *jsonStream {
	s := &jsonStream{source: source}
	s.lines.from = r
	s.in = bufio.NewReader(&s.lines)
	return s
}

// next reads a value and the line on which it begins; io.EOF at the end. A value is at most
// as large as the input; readers decode it into small structures.
func (s *jsonStream) next() (raw json.RawMessage, line int, err error) {
	if s.dec == nil {
		if err := s.open(); err != nil {
			return nil, 0, err
		}
	}
	if s.array && !s.dec.More() {
		return nil, 0, s.close()
	}
	err = s.dec.Decode(&raw)
	// The decoder counts from the first value on.
	end := s.begin + s.dec.InputOffset()
	if errors.Is(err, io.EOF) && !s.array {
		return nil, 0, io.EOF
	}
	if err != nil {
		return nil, 0, s.errorAt(err, end)
	}
	return raw, s.lines.at(end - int64(len(raw))), nil
}

// open skips white space and detects an array. The first byte decides: a value begins with
// a brace, a list with a bracket.
func (s *jsonStream) open() error {
	for ; ; s.begin++ {
		b, err := s.in.ReadByte()
		if err != nil {
			return s.errorAt(err, s.begin)
		}
		if b == ' ' || b == '\n' || b == '\r' || b == '\t' {
			continue
		}
		s.array = b == '['
		if err := s.in.UnreadByte(); err != nil {
			return err
		}
		break
	}
	s.dec = json.NewDecoder(s.in)
	if s.array {
		_, err := s.dec.Token()
		return err
	}
	return nil
}

// close reads the end of the array, which must be the end of the input.
func (s *jsonStream) close() error {
	if _, err := s.dec.Token(); err != nil {
		return s.errorAt(err, s.begin+s.dec.InputOffset())
	}
	if _, err := s.dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s:%d: data after the array, expected the end of the input", s.source, s.lines.at(s.begin+s.dec.InputOffset()))
	}
	return io.EOF
}

// errorAt adds the line to a decoder's error. before is the end of the last valid value.
func (s *jsonStream) errorAt(err error, before int64) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%s:%d: malformed JSON: %w", s.source, s.lines.at(s.begin+syntax.Offset), err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s:%d: the input ends inside a value or before the first, expected whole JSON objects", s.source, s.lines.at(s.lines.read-1))
	}
	return fmt.Errorf("%s:%d: %w", s.source, s.lines.at(before), err)
}

// unmarshal decodes a value of next, and names the field of a wrong type.
func unmarshal(raw json.RawMessage, to any) error {
	err := json.Unmarshal(raw, to)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return fmt.Errorf("field %q: a JSON %s, expected %v", mistyped.Field, mistyped.Value, mistyped.Type)
	}
	return err
}

// lineCounter finds the line of a byte, for a reader that reads ahead. Queries must ascend:
// it forgets earlier lines. So it needs memory for the lines of the read-ahead only.
type lineCounter struct {
	from   io.Reader
	read   int64
	breaks []int64 // offsets of line ends after the last query
	passed int     // line ends before those
}

// Read implements io.Reader and notes line ends.
func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			l.breaks = append(l.breaks, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of the byte at an offset, from 1.
func (l *lineCounter) at(offset int64) int {
	n := 0
	for n < len(l.breaks) && l.breaks[n] < offset {
		n++
	}
	l.breaks = l.breaks[n:]
	l.passed += n
	return l.passed + 1
}
