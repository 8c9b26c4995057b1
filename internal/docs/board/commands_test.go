package board

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// unhandled are the commands that need no case in update.command, and why.
var unhandled = map[string]string{
	"AdmitMachine": "it changes no task", "SetHealth": "it changes no task",
	"SetLimits": "it changes no task", "SetPolicy": "it changes no task", "SetPools": "it changes no task", "SetVersion": "it changes no task",
	"DrainMachine":  "its attempts are in OrdersChanged",
	"ResumeAttempt": "the attempts are in OrdersChanged", "MoveAttempt": "the attempts are in OrdersChanged",
	"KillAttempt":   "the attempts are in Ended",
	"FinishAttempt": "the attempt is in Ended or in Freed", "ExitAttempt": "the attempt is in Ended or in Freed",
	"FailAttempt": "the attempt is in Ended or in Freed", "LoseOutput": "the attempt is in Revoked", "CheckpointAttempt": "the attempt is in Ended or in Freed",
	"RestoreOutput": "the attempt is in Published or, of a gang, refused", "MoveOutput": "the attempt is in Moved",
	"SubmitJob": "the job is in Jobs", "StartJob": "the job is in Jobs", "CommitJob": "the job is in Jobs", "CloseJob": "the job is in Jobs",
	"FailJob": "the job is in Jobs", "KillJob": "the job is in Jobs", "SetPriority": "the job is in Jobs", "SetPool": "the job is in Jobs",
	"ResumeJob": "the job is in Jobs", "SuspendJob": "the job is in Jobs, the attempts in OrdersChanged",
	"EndOutagePause": "the job is in Jobs", "ArchiveJob": "the job is in Archived", "RetireJob": "the job is in Retired",
}

// TestCommandsAreKnown compares the commands of package cluster with the cases of update.command
// and with unhandled. Who adds a command decides what the board does with it.
func TestCommandsAreKnown(t *testing.T) {
	commands := declaredCommands(t)
	if len(commands) < 30 {
		t.Fatalf("found only %q", commands)
	}
	handled := handledCommands(t)
	for _, c := range commands {
		_, listed := unhandled[c]
		if listed == slices.Contains(handled, c) {
			t.Errorf("command %s: in update.command: %v, in unhandled: %v; want one of them", c, slices.Contains(handled, c), listed)
		}
	}
	for _, c := range append(handled, slices.Collect(maps.Keys(unhandled))...) {
		if !slices.Contains(commands, c) {
			t.Errorf("%s is no command of package cluster", c)
		}
	}
}

// declaredCommands returns the types of package cluster that have a method subject.
func declaredCommands(t *testing.T) (names []string) {
	paths, err := filepath.Glob("../../../cluster/*.go")
	must.Do(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		must.Do(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "subject" && f.Recv != nil {
				if name, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// handledCommands returns the cases of update.command.
func handledCommands(t *testing.T) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "commit.go", nil, 0)
	must.Do(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok {
			for _, e := range c.List {
				s, selects := e.(*ast.SelectorExpr)
				if !selects {
					continue
				}
				if from, ok := s.X.(*ast.Ident); ok && from.Name == "cluster" {
					names = append(names, s.Sel.Name)
				}
			}
		}
		return true
	})
	return names
}
