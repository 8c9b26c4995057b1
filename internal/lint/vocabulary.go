package lint

import (
	"bufio"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// nameWords splits an identifier: "mapsOnHTTPServer" is maps, on, http, server.
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
		case !unicode.IsUpper(runes[i-1]), i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			flush(i)
		}
	}
	flush(len(runes))
	return words
}

// code matches what is quoted as code in prose, and links.
var code = regexp.MustCompile("`[^`\n]*`|https?://\\S+|\\]\\([^)\n]*\\)")

// proseWords splits a text whose first line has a number. What is quoted as code
// is left out.
func proseWords(text string, line int) (words []word) {
	text = code.ReplaceAllStringFunc(text, func(quoted string) string { return strings.Repeat("\n", strings.Count(quoted, "\n")) + "." })
	begin := -1
	for i, r := range text + "." {
		if letter := unicode.IsLetter(r) || r == '\''; letter {
			if begin < 0 {
				begin = i
			}
			continue
		}
		if begin >= 0 {
			words = append(words, word{strings.ToLower(strings.Trim(text[begin:i], "'")), line})
			begin = -1
		}
		switch {
		case r == '\n':
			line++
		case !unicode.IsSpace(r) && r != '-' && r != '/' && r != '*':
			words = append(words, word{"", line})
		}
	}
	return words
}

// vocabularyFindings compares the words of one Go file with the glossary.
func (g *glossary) vocabularyFindings(s source) []string {
	if ast.IsGenerated(s.syntax) {
		return nil
	}
	findings := g.nameFindings(s)
	if !s.test() {
		findings = append(findings, g.textFindings(s)...)
	}
	for _, group := range s.syntax.Comments {
		findings = append(findings, g.find(inText, s.path, s.packageName(), commentWords(s, group))...)
	}
	return findings
}

// commentWords are the words of a comment. Directives and blocks of code are left
// out.
func commentWords(s source, group *ast.CommentGroup) (words []word) {
	for _, c := range group.List {
		directive := strings.HasPrefix(c.Text, "//") && len(c.Text) > 2 && c.Text[2] != ' '
		if !directive {
			line := proseWords(c.Text, s.line(c.Pos()))
			words = append(words, line[:len(line)-1]...) // without the stop: the next line may continue a phrase
		}
	}
	return words
}

// textFindings are about strings that people read.
func (g *glossary) textFindings(s source) (findings []string) {
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return false
			}
			text, err := strconv.Unquote(n.Value)
			if err == nil && strings.Contains(strings.TrimSpace(text), " ") && !isTag(text) {
				findings = append(findings, g.find(inText, s.path, s.packageName(), proseWords(text, s.line(n.Pos())))...)
			}
		}
		return true
	})
	return findings
}

// isTag reports whether a string is the tag of a struct's field.
var isTag = regexp.MustCompile(`^\w+:"`).MatchString

// nameFindings are about identifiers, where they are declared.
func (g *glossary) nameFindings(s source) (findings []string) {
	check := func(names ...*ast.Ident) {
		for _, name := range names {
			findings = append(findings, g.find(inIdentifiers, s.path, s.packageName(), nameWords(name.Name, s.line(name.Pos())))...)
		}
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			check(n.Name)
		case *ast.TypeSpec:
			check(n.Name)
		case *ast.Field:
			check(n.Names...)
		case *ast.ValueSpec:
			check(n.Names...)
		case *ast.LabeledStmt:
			check(n.Label)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				check(idents(n.Lhs...)...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				check(idents(n.Key, n.Value)...)
			}
		}
		return true
	})
	return findings
}

func idents(exprs ...ast.Expr) (names []*ast.Ident) {
	for _, e := range exprs {
		if name, ok := e.(*ast.Ident); ok {
			names = append(names, name)
		}
	}
	return names
}

// pageFindings compares a page of documentation with the glossary. It skips blocks of code
// and the table of banned words.
func (g *glossary) pageFindings(path, text string) []string {
	var prose strings.Builder
	fenced, banned := false, false
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		fenced = fenced != fence
		if strings.HasPrefix(line, "## ") {
			banned = line == bannedHeading
		}
		if !fence && !fenced && !banned {
			prose.WriteString(line)
		}
		prose.WriteByte('\n')
	}
	return g.find(inText, path, path, proseWords(prose.String(), 1))
}
