package jobmaster_test

import (
	"math"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// script is the input of a fuzz test, read as choices.
type script []byte

// next returns the next byte, 0 at the end.
func (s *script) next() int {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return int(b)
}

// maxMutations bounds the changes of one message.
const maxMutations = 64

// mutate changes a valid message as a script says: it sets, clears, repeats and adds fields at
// any depth. The message stays well-formed.
func mutate(m protoreflect.Message, s *script) {
	for range maxMutations {
		if len(*s) == 0 {
			return
		}
		mutateOnce(m, s)
	}
}

// mutateOnce makes one change, in m or in a message inside it.
func mutateOnce(m protoreflect.Message, s *script) {
	fields := m.Descriptor().Fields()
	field := fields.Get(s.next() % fields.Len())
	operation := s.next()
	switch {
	case operation%8 == 0:
		m.Clear(field)
	case field.IsList():
		mutateList(m, field, operation, s)
	case field.Message() != nil && !field.IsMap():
		if inner := m.Mutable(field).Message(); operation%8 > 1 {
			mutateOnce(inner, s)
		}
	case !field.IsMap():
		m.Set(field, scalar(field, m.Get(field), s))
	}
}

// mutateList adds an element, changes one, removes the last one, or repeats one up to thousands
// of times.
func mutateList(m protoreflect.Message, field protoreflect.FieldDescriptor, operation int, s *script) {
	list := m.Mutable(field).List()
	if list.Len() == 0 || operation%8 == 1 {
		if field.Message() != nil {
			list.Append(list.NewElement())
		} else {
			list.Append(scalar(field, list.NewElement(), s))
		}
	}
	at := s.next() % list.Len()
	switch operation % 8 {
	case 2:
		list.Truncate(list.Len() - 1)
	case 3:
		for range 1 << (s.next() % 17) {
			list.Append(list.Get(at))
		}
	default:
		if field.Message() != nil {
			mutateOnce(list.Get(at).Message(), s)
		} else {
			list.Set(at, scalar(field, list.Get(at), s))
		}
	}
}

// hostileTexts are values for texts. The second half is added to the value before.
var hostileTexts = []string{
	"", "/", "/dev/zero", "mem:///precious", "mem:///out/_temporary/job_1_0001/../../../precious", "../../victim/x", "attempt_1_0002_m_000000_0", "attempt_1_0001_m_000001_7",
	"\x00", "/../x", ".gz", "/", "\n\x1b[2J", " ", strings.Repeat("x", 5000), "ä",
}

var (
	hostileNumbers = []int64{0, 1, -1, 2, 7, 99, 1 << 30, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, 100, 200, 1 << 40}
	hostileFloats  = []float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), .5, math.MaxFloat64, math.SmallestNonzeroFloat64}
)

// scalar returns another value of a field that is no message.
func scalar(field protoreflect.FieldDescriptor, before protoreflect.Value, s *script) protoreflect.Value {
	choice := s.next()
	number := hostileNumbers[choice%len(hostileNumbers)]
	switch field.Kind() {
	case protoreflect.StringKind:
		text := hostileTexts[choice%len(hostileTexts)]
		if choice%len(hostileTexts) >= len(hostileTexts)/2 {
			text = before.String() + text
		}
		return protoreflect.ValueOfString(text)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(strings.Repeat(string(rune('\x7f'+choice)), 1<<(s.next()%17))))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!before.Bool())
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(number))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(hostileFloats[choice%len(hostileFloats)])
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(number))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(number)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(number))
	}
	return before
}
