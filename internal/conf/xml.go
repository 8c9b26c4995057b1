package conf

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	maxFileBytes    = 4 << 20 // longer configuration files are rejected
	maxIncludeDepth = 20      // nested includes
)

// setting is one property of a file.
type setting struct {
	name   string
	text   string
	origin string // "core-site.xml:12"
	final  bool   // later files may not change it
}

// readFile returns the settings of a file in Hadoop's XML, with the settings of included
// files in place. Errors name file and line.
func readFile(name string) ([]setting, error) { return readNested(name, 0) }

// readNested reads a file; depth is the number of includes around it. The bound ends a
// circle of includes.
func readNested(name string, depth int) ([]setting, error) {
	if depth > maxIncludeDepth {
		return nil, fmt.Errorf("files that include each other more than %d deep, the last one %s", maxIncludeDepth, name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it is only read
	return readXML(file, name, func(href string) ([]setting, error) {
		included, err := includePath(name, href)
		if err != nil {
			return nil, err
		}
		return readNested(included, depth+1)
	})
}

// includePath returns the file that an href in the file name refers to.
func includePath(name, href string) (string, error) {
	u, err := url.Parse(href)
	if err != nil {
		return "", err
	}
	if u.Scheme != "" && u.Scheme != "file" {
		return "", fmt.Errorf("include of %s: only files can be included", href)
	}
	if u.Path == "" {
		return "", errors.New("include without href")
	}
	if filepath.IsAbs(u.Path) {
		return u.Path, nil
	}
	return filepath.Join(filepath.Dir(name), u.Path), nil
}

// readXML reads settings from a file's text; include reads the settings of an included file.
// It reads at most maxFileBytes, so that a wrong file, such as a log, is rejected before it
// fills memory.
func readXML(r io.Reader, name string, include func(href string) ([]setting, error)) ([]setting, error) {
	// One byte more than allowed shows that a file is too long.
	limited := &io.LimitedReader{R: r, N: maxFileBytes + 1}
	text := bufio.NewReader(limited)
	if head, _ := text.Peek(2); string(head) == "\xfe\xff" || string(head) == "\xff\xfe" {
		return nil, fmt.Errorf("%s: the file is in UTF-16; save it as UTF-8", name)
	}
	x := &xmlReader{dec: xml.NewDecoder(text), name: filepath.Base(name), include: include}
	x.dec.CharsetReader = charsetReader
	err := x.document()
	if limited.N <= 0 {
		err = fmt.Errorf("file is longer than %d bytes", maxFileBytes)
	}
	if err != nil {
		line, _ := x.dec.InputPos()
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return x.settings, nil
}

// charsetReader returns the bytes of a file in UTF-8. Files that declare other encodings than these
// are rare.
func charsetReader(label string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "us-ascii", "ascii":
		return r, nil
	case "iso-8859-1", "latin1":
		return &latin1Reader{in: bufio.NewReader(r)}, nil
	}
	return nil, fmt.Errorf("encoding %s is not read; save the file as UTF-8", label)
}

// latin1Reader converts ISO 8859-1 to UTF-8.
type latin1Reader struct{ in *bufio.Reader }

func (l *latin1Reader) Read(p []byte) (n int, err error) {
	for n+utf8.RuneLen(0xff) <= len(p) {
		b, err := l.in.ReadByte()
		if err != nil {
			return n, err
		}
		n += utf8.EncodeRune(p[n:], rune(b))
	}
	return n, nil
}

// xmlReader reads one file of Hadoop's format:
//
//	<configuration>
//	  <property><name>a</name><value>1</value><final>true</final></property>
//	  <xi:include href="site.xml"><xi:fallback>…</xi:fallback></xi:include>
//	</configuration>
//
// It accepts what Hadoop's parser does: parts as attributes, nested configurations, and
// properties without a value, which count as absent.
type xmlReader struct {
	dec      *xml.Decoder
	name     string // base name, for origins
	include  func(href string) ([]setting, error)
	settings []setting
}

// document reads up to the end of the file, which has at least one <configuration>.
func (x *xmlReader) document() error {
	seen := false
	for {
		token, err := x.dec.Token()
		if err == io.EOF {
			if !seen {
				return errors.New("no <configuration> in the file")
			}
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok {
			if start.Name.Local != "configuration" {
				return fmt.Errorf("element <%s> where <configuration> belongs", start.Name.Local)
			}
			seen = true
			if err := x.configuration(0); err != nil {
				return err
			}
		}
	}
}

// children calls visit for each child of the current element, up to its end. visit must read
// the child to its end.
func (x *xmlReader) children(visit func(xml.StartElement) error) error {
	for {
		token, err := x.dec.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if err := visit(t); err != nil {
				return err
			}
		}
	}
}

// configuration reads the content of <configuration>, which may be nested.
func (x *xmlReader) configuration(depth int) error {
	if depth > maxIncludeDepth {
		return fmt.Errorf("elements nested more than %d deep", maxIncludeDepth)
	}
	return x.children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "configuration":
			return x.configuration(depth + 1)
		case "property":
			return x.property(start)
		case "include":
			return x.includeElement(start, depth)
		}
		return fmt.Errorf("element <%s> where <property> belongs", start.Name.Local)
	})
}

// property reads <property>, whose parts are elements or attributes. Unknown parts, such as
// <description>, are skipped. The origin is the line of its start.
func (x *xmlReader) property(start xml.StartElement) error {
	line, _ := x.dec.InputPos()
	s := setting{origin: fmt.Sprintf("%s:%d", x.name, line)}
	hasValue := false
	set := func(part, text string) {
		switch part {
		case "name":
			s.name = strings.TrimSpace(text)
		case "value":
			s.text, hasValue = text, true
		case "final":
			s.final = strings.TrimSpace(text) == "true"
		}
	}
	for _, a := range start.Attr {
		set(a.Name.Local, a.Value)
	}
	err := x.children(func(part xml.StartElement) error {
		var text string
		if err := x.dec.DecodeElement(&text, &part); err != nil {
			return err
		}
		set(part.Name.Local, text)
		return nil
	})
	switch {
	case err != nil:
		return err
	case s.name == "":
		return errors.New("<property> without a <name>")
	case hasValue: // as in Hadoop, a property without a value is ignored
		x.settings = append(x.settings, s)
	}
	return nil
}

// includeElement reads <xi:include href="…">: the settings of the file replace the element.
// If the file does not exist, it reads the element's <xi:fallback>. Without a fallback it
// returns an error.
func (x *xmlReader) includeElement(start xml.StartElement, depth int) error {
	href := ""
	for _, a := range start.Attr {
		if a.Name.Local == "href" {
			href = a.Value
		}
	}
	included, err := x.include(href)
	// Only a file that does not exist has a fallback; a malformed one is an error.
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	x.settings = append(x.settings, included...)
	fallback := false
	if e := x.children(func(part xml.StartElement) error {
		if part.Name.Local != "fallback" || !missing {
			return x.dec.Skip()
		}
		fallback = true
		return x.configuration(depth + 1)
	}); e != nil {
		return e
	}
	if missing && !fallback {
		return fmt.Errorf("include: %w", err)
	}
	return nil
}
