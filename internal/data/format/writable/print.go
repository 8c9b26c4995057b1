package writable

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printer appends the text that Java's toString returns for one encoded value, in UTF-8.
type Printer func(dst, value []byte) ([]byte, error)

// PrinterOf returns the Printer of a class. ok is false for a class that this package does
// not know; the caller can then show only the name of the class.
func PrinterOf(class string) (p Printer, ok bool) {
	p, ok = printers[class]
	return p, ok
}

// printers has each class that this package knows. VIntWritable and similar classes are rare
// in files, but Hadoop's shell shows them.
var printers = map[string]Printer{
	Text.Class:    printer(Text, appendUTF8),
	Bytes.Class:   printer(Bytes, appendHexPairs),
	Int.Class:     printer(Int, appendInteger[int32]),
	Long.Class:    printer(Long, appendInteger[int64]),
	VInt32.Class:  printer(VInt32, appendInteger[int32]),
	VLong64.Class: printer(VLong64, appendInteger[int64]),
	Short.Class:   printer(Short, appendInteger[int16]),
	Byte.Class:    printer(Byte, appendInteger[int8]),
	Float.Class: printer(Float, func(dst []byte, v float32) []byte {
		return appendJavaFloat(dst, float64(v), 32)
	}),
	Double.Class: printer(Double, func(dst []byte, v float64) []byte {
		return appendJavaFloat(dst, v, 64)
	}),
	Boolean.Class: printer(Boolean, strconv.AppendBool),
	Null.Class: printer(Null, func(dst []byte, _ struct{}) []byte {
		return append(dst, "(null)"...)
	}),
}

// printer returns a Printer for a Codec and a function that shows its values.
func printer[T any](c Codec[T], show func(dst []byte, v T) []byte) Printer {
	return func(dst, value []byte) ([]byte, error) {
		v, err := c.Decode(value)
		if err != nil {
			return dst, err
		}
		return show(dst, v), nil
	}
}

// appendInteger shows a number as Java's toString does.
func appendInteger[T int8 | int16 | int32 | int64](dst []byte, v T) []byte {
	return strconv.AppendInt(dst, int64(v), 10)
}

// appendHexPairs shows bytes as BytesWritable.toString does: two digits each, with spaces
// between, as in "0a ff".
func appendHexPairs(dst, v []byte) []byte {
	const digits = "0123456789abcdef"
	for i, b := range v {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, digits[b>>4], digits[b&15])
	}
	return dst
}

// appendUTF8 appends text with each malformed part replaced by U+FFFD. As in Java, one
// replacement covers the longest prefix of a valid sequence, so that a truncated character
// yields one replacement instead of one per byte.
// Hadoop's shell decodes with replacement in the same way.
func appendUTF8(dst, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			size = malformedLen(text)
		}
		dst = utf8.AppendRune(dst, r)
		text = text[size:]
	}
	return dst
}

// malformedLen returns the length of the longest prefix of text that starts a valid sequence,
// at least 1. Text begins with a malformed part.
func malformedLen(text []byte) int {
	n := 1
	for n < len(text) && !utf8.FullRune(text[:n+1]) {
		n++
	}
	return n
}

// appendJavaFloat writes v as Java's Double.toString: decimal from 1e-3 to
// below 1e7, computerized scientific notation elsewhere, and always at least
// one digit after the point. The digits are the fewest that read back as v.
//
//	0.001   → 0.001       1e7 → 1.0E7
//	123.5   → 123.5       1e-4 → 1.0E-4
func appendJavaFloat(dst []byte, v float64, bits int) []byte {
	switch abs := math.Abs(v); {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	case abs == 0 || abs >= 1e-3 && abs < 1e7:
		return append(dst, withFraction(strconv.FormatFloat(v, 'f', -1, bits))...)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, bits), "e")
	power, _ := strconv.Atoi(exponent)
	dst = append(dst, withFraction(mantissa)...)
	return strconv.AppendInt(append(dst, 'E'), int64(power), 10)
}

// withFraction adds ".0" to a whole number. Java's toString always shows a fraction, as in 3.0
// and 1.0E7.
func withFraction(digits string) string {
	if strings.Contains(digits, ".") {
		return digits
	}
	return digits + ".0"
}
