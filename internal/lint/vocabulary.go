package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameWords splits an identifier at capitals: "mapsOnHTTPServer" is maps, on, http, server.
// A run of capitals is one word, except for its last capital before a small letter.
// Characters that are not letters separate words too.
func nameWords(name string, line int) (words []word) {
	runes := []rune(name)
	begin := 0
	flush := func(end int) {
		if end > begin {
			words = append(words, word{strings.ToLower(string(runes[begin:end])), line})
		}
		begin = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			flush(i)
			begin = i + 1
		case i == begin || !unicode.IsUpper(r):
		// A capital after a small letter, or the last of a run of capitals: HTTPServer is
		// http, server.
		case !unicode.IsUpper(runes[i-1]), i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			flush(i)
		}
	}
	flush(len(runes))
	return words
}

var (
	// code matches links, and text that prose quotes as code.
	code = regexp.MustCompile("`[^`\n]*`|https?://\\S+|\\]\\([^)\n]*\\)")
	// tokens matches words, ends of lines and stops. Dashes, slashes and the stars of
	// comments and emphasis join words as blanks do.
	tokens = regexp.MustCompile(`[\pL']+|\n|[^\s/*-]`)
)

// proseWords splits a text whose first line has a number. Words are in lower case, with
// apostrophes within them. What is quoted as code counts as a stop: names of files, flags and
// old identifiers may be quoted.
func proseWords(text string, line int) (words []word) {
	for _, t := range tokens.FindAllString(code.ReplaceAllString(text, "."), -1) {
		switch first, _ := utf8.DecodeRuneInString(t); {
		case t == "\n":
			line++
		case unicode.IsLetter(first) || first == '\'':
			words = append(words, word{strings.ToLower(strings.Trim(t, "'")), line})
		default:
			words = append(words, word{"", line})
		}
	}
	return words
}

// vocabularyFindings compares the words of one Go file with the glossary: its comments, the
// identifiers that it declares, and, except in tests, strings that people read.
func (g glossary) vocabularyFindings(s source) (findings []string) {
	if ast.IsGenerated(s.syntax) {
		return nil
	}
	find := func(where place, words []word) {
		findings = append(findings, g.find(where, s.path, s.packageName(), words)...)
	}
	for _, group := range s.syntax.Comments {
		find(inText, commentWords(s, group))
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		// Identifiers of tests count too; strings of tests do not, since they quote input and
		// output.
		for _, name := range declaredNames(n) {
			find(inIdentifiers, nameWords(name.Name, s.line(name.Pos())))
		}
		if text, ok := unquoted(n); ok && !s.test() && strings.Contains(strings.TrimSpace(text), " ") && !isTag(text) {
			find(inText, proseWords(text, s.line(n.Pos())))
		}
		return true
	})
	return findings
}

// isTag reports whether a string is the tag of a struct's field.
var isTag = regexp.MustCompile(`^\w+:"`).MatchString

// commentWords returns the words of a comment. Directives and blocks of code are left out. A
// phrase may continue on the next line.
func commentWords(s source, group *ast.CommentGroup) (words []word) {
	for _, c := range group.List {
		// //go:build and the like have no blank after the slashes; blocks of code in comments
		// have a tab.
		directive := strings.HasPrefix(c.Text, "//") && len(c.Text) > 2 && c.Text[2] != ' '
		if !directive {
			words = append(words, proseWords(c.Text, s.line(c.Pos()))...)
		}
	}
	return words
}

// declaredNames returns the identifiers that a node itself declares, without the
// declarations of its children. Uses are not checked: each would repeat the finding of its
// declaration, which may be in another module.
func declaredNames(n ast.Node) (names []*ast.Ident) {
	var exprs []ast.Expr
	switch n := n.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{n.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{n.Name}
	case *ast.LabeledStmt:
		return []*ast.Ident{n.Label}
	case *ast.Field:
		return n.Names
	case *ast.ValueSpec:
		return n.Names
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			exprs = n.Lhs
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			exprs = []ast.Expr{n.Key, n.Value}
		}
	}
	for _, e := range exprs {
		if name, ok := e.(*ast.Ident); ok {
			names = append(names, name)
		}
	}
	return names
}

// pageFindings compares a page of documentation with the glossary. It skips blocks of code
// and the table of banned words.
func (g glossary) pageFindings(path, text string) []string {
	var prose strings.Builder
	fenced, banned := false, false
	for line := range strings.Lines(text) {
		// A line with a fence opens or closes a block; it is not prose.
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		fenced = fenced != fence
		if strings.HasPrefix(line, "## ") {
			banned = strings.TrimSpace(line) == bannedHeading
		}
		// Commands and output in pages are code, and the table names what is banned.
		if fence || fenced || banned {
			line = "\n" // lines keep their numbers
		}
		prose.WriteString(line)
	}
	return g.find(inText, path, path, proseWords(prose.String(), 1))
}
