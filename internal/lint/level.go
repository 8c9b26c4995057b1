package lint

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// gateTest is a test by its package and name.
type gateTest struct{ dir, name string }

func (g gateTest) String() string { return g.dir + "." + g.name }

// gatePattern is the line in a comment of a nightly test that names its guards.
var gatePattern = regexp.MustCompile(`(?m)^Gate: (.+)$`)

// levels are the tests of the tree: each test function, and whether only `make nightly` or a build with tags runs it.
type levels map[gateTest]bool

// levelsOf finds the tests in all sources.
func levelsOf(all []source) levels {
	tests := make(levels)
	for _, s := range all {
		if !s.test() {
			continue
		}
		for _, decl := range s.syntax.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") && !strings.HasPrefix(f.Name.Name, "Fuzz") && !strings.HasPrefix(f.Name.Name, "Example") {
				continue
			}
			tests[gateTest{s.packageName(), f.Name.Name}] = len(ownTags(s)) > 0 || callsNightly(f)
		}
	}
	return tests
}

// callsNightly reports whether a test as a whole is nightly. A subtest may be so too.
func callsNightly(f *ast.FuncDecl) bool {
	for _, statement := range f.Body.List {
		if isNightlyCall(statement) {
			return true
		}
	}
	return false
}

func isNightlyCall(n ast.Node) bool {
	statement, ok := n.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := statement.X.(*ast.CallExpr)
	return ok && selects(call.Fun, "testlevel", "Nightly")
}

// levelFindings reports tests that leave the gate and do not name tests of the gate that guard their property. The
// names stand in the comment of the test, or right before a call of testlevel.Nightly in a subtest:
//
//	// Gate: TestOne, internal/web.TestTwo
func levelFindings(s source, tests levels) (findings []string) {
	if !s.test() {
		return nil
	}
	for _, decl := range s.syntax.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n != nil && isNightlyCall(n) {
				comment := commentBefore(s, n)
				if comment == "" {
					comment = f.Doc.Text()
				}
				findings = append(findings, guardFindings(s, n, comment, tests)...)
			}
			return true
		})
	}
	return findings
}

// commentBefore returns the comment that ends on the line before a node.
func commentBefore(s source, n ast.Node) string {
	for _, group := range s.syntax.Comments {
		if s.line(group.End()) == s.line(n.Pos())-1 {
			return group.Text()
		}
	}
	return ""
}

func guardFindings(s source, n ast.Node, comment string, tests levels) (findings []string) {
	line := gatePattern.FindStringSubmatch(comment)
	if line == nil {
		return []string{s.at(n) + `: a test leaves the gate: name the tests that stay and guard its property in its comment, as "Gate: TestName, dir.TestName"`}
	}
	for name := range strings.SplitSeq(line[1], ", ") {
		guard := gateTest{s.packageName(), name}
		if dot := strings.LastIndex(name, "."); dot >= 0 {
			guard = gateTest{path.Clean(name[:dot]), name[dot+1:]}
		}
		if nightly, ok := tests[guard]; !ok {
			findings = append(findings, s.at(n)+": there is no test "+guard.String())
		} else if nightly {
			findings = append(findings, s.at(n)+": "+guard.String()+" does not run in the gate either")
		}
	}
	return findings
}

// testName is a test as documents name it.
var testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`)

// namedTestFindings reports tests that a document names and that do not exist. A name may be the beginning of
// several tests.
func namedTestFindings(path, text string, tests levels) (findings []string) {
	for _, name := range testName.FindAllString(text, -1) {
		found := name == "TestDFSIO" // a program
		for test := range tests {
			found = found || strings.HasPrefix(test.name, name)
		}
		if !found {
			findings = append(findings, path+": there is no test "+name)
		}
	}
	return findings
}

// treePath finds files and directories of the tree that a document names in back quotes, such as `sched/fifo/fifo.go`.
// Names with a pattern in them are left out, and those that do not begin with a directory at the root.
var treePath = regexp.MustCompile("`(internal/[a-zA-Z0-9_./-]+|[a-z]+/[a-zA-Z0-9_./-]+\\.(?:go|md|proto|sh|yaml|json))`")

// namedPathFindings reports files and directories that a document names and that are not in the tree at root.
func namedPathFindings(root, path, text string) (findings []string) {
	for _, match := range treePath.FindAllStringSubmatch(text, -1) {
		top, _, _ := strings.Cut(match[1], "/")
		if _, err := os.Stat(filepath.Join(root, top)); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(match[1]))); err != nil {
			findings = append(findings, path+": there is no "+match[1])
		}
	}
	return findings
}
