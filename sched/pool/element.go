package pool

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

const (
	maxBytes = 4 << 20 // bytes of a file
	maxDepth = 50      // depth of nested elements
)

// element is one element of a file, with the elements in it. Attributes other than name have
// no meaning in allocation files.
type element struct {
	tag      string     // without a namespace
	name     string     // its attribute "name"
	named    bool       // it has the attribute "name"
	text     string     // its text, trimmed
	line     int        // line of its start tag
	children []*element // in the order of the file
}

// readElements parses the outermost element of a file. On error, line is the line of the
// error. Size and depth are limited: any user who may write the file could otherwise use up
// the master's memory.
func readElements(data []byte) (top *element, line int, err error) {
	if len(data) > maxBytes {
		return nil, 1, errors.New("more than 4 MiB")
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	var open []*element
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		if err == io.EOF {
			return top, line, nil
		}
		if err != nil {
			return nil, line, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			e := begin(t, line)
			switch {
			case len(open) > 0:
				open[len(open)-1].children = append(open[len(open)-1].children, e)
			case top != nil:
				return nil, line, errors.New("a second outermost element")
			default:
				top = e
			}
			if open = append(open, e); len(open) > maxDepth {
				return nil, line, errors.New("elements nested more than 50 deep")
			}
		case xml.EndElement:
			last := open[len(open)-1]
			last.text = strings.TrimSpace(last.text)
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += string(t)
			}
		}
	}
}

// begin makes the element of a start tag.
func begin(t xml.StartElement, line int) *element {
	e := &element{tag: t.Name.Local, line: line}
	for _, a := range t.Attr {
		if a.Name.Local == "name" {
			e.name, e.named = strings.TrimSpace(a.Value), true
		}
	}
	return e
}
