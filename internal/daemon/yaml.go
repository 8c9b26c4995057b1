package daemon

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// entry is one key of a file.
type entry struct {
	key  string
	text string // the value as a user types it for a flag
	line int    // line number; the first line is 1
	err  error  // why there is no text
}

// parseFile reads a YAML document that has keys with scalars or lists of scalars.
func parseFile(data []byte) ([]entry, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fmt.Errorf("malformed YAML: %s", strings.TrimSpace(err.Error()))
	}
	var entries []entry
	for _, document := range file.Docs {
		values, err := mappings(document.Body)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			e := entry{key: value.Key.GetToken().Value, line: value.Key.GetToken().Position.Line}
			e.text, e.err = textOf(value.Value)
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// mappings returns the keys and values of a document.
func mappings(body ast.Node) ([]*ast.MappingValueNode, error) {
	switch body := body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil, nil
	case *ast.MappingNode:
		return body.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{body}, nil
	}
	return nil, fmt.Errorf("line %d: expected a setting and its value, as in \"map-slots: 2\"", body.GetToken().Position.Line)
}

// textOf returns a value as a user types it for a flag. A list is joined by commas; a scalar
// is copied from the file without quotes. Numbers are not converted, so that "010" and "1m"
// keep their meaning.
func textOf(node ast.Node) (string, error) {
	switch node := node.(type) {
	case *ast.NullNode:
		return "", errors.New("a value is missing")
	case *ast.LiteralNode:
		return strings.TrimRight(node.Value.Value, "\n"), nil
	case *ast.SequenceNode:
		var words []string
		for _, element := range node.Values {
			word, err := textOf(element)
			if err != nil {
				return "", err
			}
			words = append(words, EscapeItem(word))
		}
		return strings.Join(words, ","), nil
	case ast.ScalarNode:
		return node.GetToken().Value, nil
	}
	return "", errors.New("expected a value or a list of values")
}
