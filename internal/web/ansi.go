package web

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/clean"
)

// Span is a part of a text that is shown in one style.
type Span struct {
	Class string `json:"class,omitempty"` // of the style sheet; "" for plain text
	Text  string `json:"text"`
}

// maxSpans bounds the spans of a text. The rest of a text with more of them is plain.
const maxSpans = 2000

// style is what the escape sequences of a terminal have set.
type style struct {
	bold, dim, italic, underline bool
	colour, back                 int // 1 to 8; 0 for none
}

// class returns the classes of the style, "" for none.
func (s style) class() string {
	var list []string
	for name, set := range map[string]bool{"b": s.bold, "d": s.dim, "i": s.italic, "u": s.underline} {
		if set {
			list = append(list, "sgr-"+name)
		}
	}
	if s.colour > 0 {
		list = append(list, "sgr-f"+strconv.Itoa(s.colour-1))
	}
	if s.back > 0 {
		list = append(list, "sgr-g"+strconv.Itoa(s.back-1))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// set changes the style by one parameter of a sequence SGR. Bright colours are shown as the others.
func (s *style) set(n int) {
	switch {
	case n == 0:
		*s = style{}
	case n == 1:
		s.bold = true
	case n == 2:
		s.dim = true
	case n == 3:
		s.italic = true
	case n == 4:
		s.underline = true
	case n == 22:
		s.bold, s.dim = false, false
	case n == 23:
		s.italic = false
	case n == 24:
		s.underline = false
	case n >= 30 && n <= 37, n >= 90 && n <= 97:
		s.colour = n%10 + 1
	case n == 39:
		s.colour = 0
	case n >= 40 && n <= 47, n >= 100 && n <= 107:
		s.back = n%10 + 1
	case n == 49:
		s.back = 0
	}
}

// apply changes the style by the parameters of a sequence SGR. Colours of more than 8 are left out,
// with their arguments.
func (s *style) apply(parameters string) {
	list := strings.Split(parameters, ";")
	for i := 0; i < len(list); i++ {
		n, err := strconv.Atoi(list[i])
		switch {
		case list[i] == "":
			n = 0
		case err != nil:
			return
		case (n == 38 || n == 48) && i+1 < len(list):
			i += map[string]int{"5": 2, "2": 4}[list[i+1]]
			continue
		}
		s.set(n)
	}
}

// maxSequence bounds an escape sequence in bytes. A longer one is shown as text.
const maxSequence = 64

// sequence returns the length of the escape sequence at the begin of a text, 0 if there is none, and
// the parameters if it is one of SGR (select graphic rendition).
func sequence(text string) (length int, parameters string, isSGR bool) {
	if !strings.HasPrefix(text, "\x1b[") {
		return 0, "", false
	}
	for i := 2; i < min(len(text), maxSequence); i++ {
		switch c := text[i]; {
		case c >= '@' && c <= '~':
			return i + 1, text[2:i], c == 'm'
		case c < ' ' || c > '?':
			return 0, "", false
		}
	}
	return 0, "", false
}

// spansOf returns a text of a terminal in spans. Of its escape sequences, colours and styles count;
// other control sequences are left out, and other control characters are shown as escapes.
func spansOf(text string) (spans []Span) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var now style
	var plain strings.Builder
	end := func() {
		if plain.Len() > 0 {
			spans = append(spans, Span{now.class(), clean.Text(plain.String())})
			plain.Reset()
		}
	}
	for text != "" {
		i := strings.IndexByte(text, '\x1b')
		if i < 0 {
			i = len(text)
		}
		plain.WriteString(text[:i])
		text = text[i:]
		n, parameters, isSGR := sequence(text)
		if isSGR && len(spans) < maxSpans {
			next := now
			if next.apply(parameters); next != now {
				end()
				now = next
			}
		}
		if n == 0 && text != "" {
			plain.WriteByte(text[0])
			n = 1
		}
		text = text[n:]
	}
	end()
	return spans
}
