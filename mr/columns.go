package mr

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unsafe"
)

// column is a column of a row: a field of a struct, or the whole of another value. Its
// functions are chosen once for a type and work on memory, so that numbers and bytes need
// neither reflection nor allocation for each record.
type column struct {
	index  int     // place in the row, from 0
	field  string  // name for errors; "" for a value that is no struct
	offset uintptr // bytes from the start of the struct
	decode func(at unsafe.Pointer, text []byte) error
	append func(dst []byte, at unsafe.Pointer) []byte
	text   bool // its text may contain any byte
}

// String names the column for errors, counted from 1 as in tags.
func (c *column) String() string {
	if c.field == "" {
		return fmt.Sprintf("column %d", c.index+1)
	}
	return fmt.Sprintf("column %d (%s)", c.index+1, c.field)
}

// decode decodes a row into the memory of a struct. at points to it.
func (f *rowFormat) decode(at unsafe.Pointer, line []byte) error {
	text, rest, more := bytes.Cut(line, []byte{f.separator})
	index := 0
	for i := range f.columns {
		c := &f.columns[i]
		for ; index < c.index; index++ {
			if !more {
				return fmt.Errorf("row of %d columns: %v is missing", index+1, c)
			}
			if j := bytes.IndexByte(rest, f.separator); j >= 0 {
				text, rest = rest[:j], rest[j+1:]
			} else {
				text, more = rest, false
			}
		}
		if err := c.decode(unsafe.Add(at, c.offset), text); err != nil {
			return fmt.Errorf("%v of a row: %w", c, err)
		}
	}
	return nil
}

// checkText refuses a text that a reader would not find again as one column.
func (f *rowFormat) checkText(c *column, text []byte) error {
	if !c.text {
		return nil
	}
	for _, b := range text {
		switch b {
		case f.separator:
			return fmt.Errorf("%v of a row: %.100q contains the separator %q; remove it, or choose another with Separator", c, text, b)
		case '\n', '\r':
			return fmt.Errorf("%v of a row: %.100q contains a line end; remove it", c, text)
		}
	}
	return nil
}

// columnsOf returns the columns of a type, in order of index.
func columnsOf(t reflect.Type) ([]column, error) {
	if t == reflect.TypeFor[struct{}]() {
		return nil, nil
	}
	if t.Kind() != reflect.Struct || isText(t) {
		c, err := columnOf(t)
		return []column{c}, err
	}
	var columns []column
	next := 0
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("col")
		if tag == "-" {
			continue
		}
		c, err := columnOf(field.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s of %v: %w", field.Name, t, err)
		}
		if !field.IsExported() {
			return nil, fmt.Errorf(`field %s of %v: not exported, so it would be lost between map and reduce; export it, or leave it out with the tag col:"-"`, field.Name, t)
		}
		c.index, c.field, c.offset = next, field.Name, field.Offset
		if tag != "" {
			n, err := strconv.Atoi(tag)
			if err != nil || n < 1 {
				return nil, fmt.Errorf(`field %s of %v: tag col:%q: expected the number of a column, counted from 1, or "-"`, field.Name, t, tag)
			}
			c.index = n - 1
		}
		next = c.index + 1
		columns = append(columns, c)
	}
	return sortColumns(t, columns)
}

// sortColumns puts the columns in order and refuses two for one place.
func sortColumns(t reflect.Type, columns []column) ([]column, error) {
	slices.SortFunc(columns, func(a, b column) int { return cmp.Compare(a.index, b.index) })
	for i := 1; i < len(columns); i++ {
		if a, b := &columns[i-1], &columns[i]; a.index == b.index {
			return nil, fmt.Errorf("fields %s and %s of %v: both are column %d", a.field, b.field, t, a.index+1)
		}
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("type %v: no field is a column", t)
	}
	return columns, nil
}

// columnOf returns the column of a type at index 0.
func columnOf(t reflect.Type) (column, error) {
	if isText(t) {
		return textColumn(t), nil
	}
	switch t.Kind() {
	case reflect.String:
		return column{decode: decodeString, append: appendString, text: true}, nil
	case reflect.Bool:
		return column{decode: decodeBool, append: appendBool}, nil
	case reflect.Float32:
		return floatColumn[float32](32), nil
	case reflect.Float64:
		return floatColumn[float64](64), nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return column{decode: decodeBytes, append: appendBytes, text: true}, nil
		}
	}
	if c, ok := integerColumn(t.Kind()); ok {
		return c, nil
	}
	return column{}, fmt.Errorf("a column of type %v: use a string, []byte, number, bool or a type with UnmarshalText", t)
}

func decodeString(at unsafe.Pointer, text []byte) error {
	*(*string)(at) = string(text)
	return nil
}

func appendString(dst []byte, at unsafe.Pointer) []byte { return append(dst, *(*string)(at)...) }

// decodeBytes makes the field a view of the line.
func decodeBytes(at unsafe.Pointer, text []byte) error {
	*(*[]byte)(at) = text[:len(text):len(text)]
	return nil
}

func appendBytes(dst []byte, at unsafe.Pointer) []byte { return append(dst, *(*[]byte)(at)...) }

func decodeBool(at unsafe.Pointer, text []byte) (err error) {
	*(*bool)(at), err = strconv.ParseBool(viewString(text))
	return notA("bool, such as true", text, err)
}

func appendBool(dst []byte, at unsafe.Pointer) []byte { return strconv.AppendBool(dst, *(*bool)(at)) }

// floatColumn returns the column of a float. It is written with the fewest digits that give
// the same value.
func floatColumn[T float32 | float64](bits int) column {
	what := fmt.Sprintf("float%d", bits)
	return column{
		decode: func(at unsafe.Pointer, text []byte) error {
			v, err := strconv.ParseFloat(viewString(text), bits)
			*(*T)(at) = T(v)
			return notA(what, text, err)
		},
		append: func(dst []byte, at unsafe.Pointer) []byte {
			return strconv.AppendFloat(dst, float64(*(*T)(at)), 'g', -1, bits)
		},
	}
}

// integerColumn returns the column of an integer of a kind; false if the kind is no integer.
func integerColumn(kind reflect.Kind) (column, bool) {
	switch kind {
	case reflect.Int:
		return signedColumn[int](strconv.IntSize), true
	case reflect.Int8:
		return signedColumn[int8](8), true
	case reflect.Int16:
		return signedColumn[int16](16), true
	case reflect.Int32:
		return signedColumn[int32](32), true
	case reflect.Int64:
		return signedColumn[int64](64), true
	case reflect.Uint:
		return unsignedColumn[uint](strconv.IntSize), true
	case reflect.Uint8:
		return unsignedColumn[uint8](8), true
	case reflect.Uint16:
		return unsignedColumn[uint16](16), true
	case reflect.Uint32:
		return unsignedColumn[uint32](32), true
	case reflect.Uint64:
		return unsignedColumn[uint64](64), true
	}
	return column{}, false
}

func signedColumn[T int | int8 | int16 | int32 | int64](bits int) column {
	what := fmt.Sprintf("whole number of %d bits", bits)
	return column{
		decode: func(at unsafe.Pointer, text []byte) error {
			v, err := strconv.ParseInt(viewString(text), 10, bits)
			*(*T)(at) = T(v)
			return notA(what, text, err)
		},
		append: func(dst []byte, at unsafe.Pointer) []byte {
			return strconv.AppendInt(dst, int64(*(*T)(at)), 10)
		},
	}
}

func unsignedColumn[T uint | uint8 | uint16 | uint32 | uint64](bits int) column {
	what := fmt.Sprintf("whole number of at least 0 of %d bits", bits)
	return column{
		decode: func(at unsafe.Pointer, text []byte) error {
			v, err := strconv.ParseUint(viewString(text), 10, bits)
			*(*T)(at) = T(v)
			return notA(what, text, err)
		},
		append: func(dst []byte, at unsafe.Pointer) []byte {
			return strconv.AppendUint(dst, uint64(*(*T)(at)), 10)
		},
	}
}

// isText reports whether a type has a text form of its own.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// textColumn returns the column of a type with UnmarshalText. It is written by AppendText or
// MarshalText, and otherwise as fmt prints it.
func textColumn(t reflect.Type) column {
	return column{
		text: true,
		decode: func(at unsafe.Pointer, text []byte) error {
			return reflect.NewAt(t, at).Interface().(encoding.TextUnmarshaler).UnmarshalText(text)
		},
		append: func(dst []byte, at unsafe.Pointer) []byte {
			var err error
			switch v := reflect.NewAt(t, at).Interface().(type) {
			case encoding.TextAppender:
				dst, err = v.AppendText(dst)
			case encoding.TextMarshaler:
				var text []byte
				text, err = v.MarshalText()
				dst = append(dst, text...)
			default:
				dst = fmt.Append(dst, reflect.NewAt(t, at).Elem().Interface())
			}
			if err != nil {
				panic(thrown{fmt.Errorf("text form of %v: %w", t, err)})
			}
			return dst
		},
	}
}

// notA returns the error for a text that is not of the type of its field; nil if err is nil.
func notA(what string, text []byte, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%.100q is beyond a %s", text, what)
	}
	return fmt.Errorf("%.100q is not a %s", text, what)
}

// viewString returns the bytes as a string that is valid as long as they are. The parsers of
// strconv do not keep it.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
