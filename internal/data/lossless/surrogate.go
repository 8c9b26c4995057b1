package lossless

import (
	"bytes"
	"strconv"
)

// LoneSurrogate returns the first escape of a valid JSON document that is half of a character, such as
// \ud800 without \udc00 behind it; "" if there is none. encoding/json decodes it as U+FFFD without an
// error. A document without \u costs one search.
func LoneSurrogate(doc []byte) string {
	at := bytes.Index(doc, []byte(`\u`))
	if at < 0 {
		return ""
	}
	for at > 0 && doc[at-1] == '\\' { // the backslash before u may itself be escaped
		at--
	}
	for {
		next := bytes.IndexByte(doc[at:], '\\')
		if next < 0 {
			return ""
		}
		at += next
		half, ok := surrogate(doc[at:])
		switch {
		case !ok:
			at += len(`\n`) // enough for \u0041 too: its digits contain no backslash
		case half < firstLow:
			if low, ok := surrogate(doc[at+escapeLength:]); !ok || low < firstLow {
				return string(doc[at : at+escapeLength])
			}
			at += 2 * escapeLength
		default:
			return string(doc[at : at+escapeLength])
		}
	}
}

const (
	escapeLength = len(`\ud800`)
	firstHigh    = 0xd800 // the first half of a character
	firstLow     = 0xdc00 // the second half
	afterLow     = 0xe000
)

// surrogate returns the half of a character with whose escape b begins; ok is false if there is none.
func surrogate(b []byte) (half uint64, ok bool) {
	if len(b) < escapeLength || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	half, err := strconv.ParseUint(string(b[2:escapeLength]), 16, 16)
	return half, err == nil && firstHigh <= half && half < afterLow
}
