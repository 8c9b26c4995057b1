package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The glossary rules keep the project's vocabulary. docs/glossary.md is their
// source: its section "Words we do not use" has a table with a row for each word:
//
//	| word | where | use instead |
//	|---|---|---|
//	| goes on, go on | text | resumes, continues |
//	| letGo | identifiers | release |
//	| fault | both; not in chaos, chaos/... | err |
//
// The first cell lists forms of the word, separated by commas; a form may be a
// phrase. The second cell says where the word is banned: in identifiers, where they
// are declared; in text, which is comments, pages, and strings of several words
// outside of tests (log lines, errors, help); or in both. What follows "not in" are
// patterns of packages, or pages, where the word has a meaning of its own.
//
// All text is compared as sequences of words in lower case, so that `letGo` and
// `LetGo` are the same, and a phrase is found across the ends of lines.

// place is where a word may stand, as bits.
type place uint8

const (
	// Declared names in Go code, tests included.
	inIdentifiers place = 1 << iota
	// Comments, pages, and strings of several words outside of tests.
	inText
)

var placeNames = map[string]place{
	"identifiers": inIdentifiers, "text": inText, "both": inIdentifiers | inText,
}

// bannedForm is one form of a row's word.
type bannedForm struct {
	words   []string // in lower case; at least one
	places  place
	except  []string // patterns of packages and of pages
	instead string
}

// glossary finds banned words. It has the forms by their first words, so that a text is
// searched in one pass.
type glossary map[string][]bannedForm

const bannedHeading = "## Words we do not use"

// parseGlossary reads the table of banned words out of the glossary's page. It reports the
// errors of all rows.
func parseGlossary(page string) (glossary, error) {
	_, section, found := strings.Cut(page, bannedHeading+"\n")
	if !found {
		return nil, fmt.Errorf("no section %q", bannedHeading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	g := make(glossary)
	var errs []error
	for line := range strings.Lines(section) {
		// All other lines of the section are prose.
		row, isRow := strings.CutPrefix(strings.TrimSpace(line), "|")
		if isRow && !strings.HasPrefix(row, " word ") && !strings.HasPrefix(row, "--") {
			errs = append(errs, g.add(row))
		}
	}
	return g, errors.Join(errs...)
}

// add adds a row of the table, without its first bar.
func (g glossary) add(row string) error {
	cells := strings.Split(strings.TrimSuffix(row, "|"), "|")
	if len(cells) != 3 {
		return fmt.Errorf("%d cells in %q, want word, where, use instead", len(cells), row)
	}
	where, except, _ := strings.Cut(strings.TrimSpace(cells[1]), "; not in ")
	form := bannedForm{places: placeNames[where], except: listed(except), instead: strings.TrimSpace(cells[2])}
	forms := listed(cells[0])
	switch {
	case form.places == 0:
		return fmt.Errorf("%q: a word is banned in identifiers, text or both, not in %q", row, where)
	case len(forms) == 0 || form.instead == "":
		return fmt.Errorf("row %q: expected a word and what to use instead", row)
	}
	for _, text := range forms {
		// Each form has its own words; the rest of the row is the same.
		form.words = nil
		for _, w := range nameWords(text, 0) {
			form.words = append(form.words, w.text)
		}
		g[form.words[0]] = append(g[form.words[0]], form)
	}
	return nil
}

// listed returns the parts of a cell between commas, without quotes as code.
func listed(cell string) (parts []string) {
	for part := range strings.SplitSeq(cell, ",") {
		if part = strings.Trim(part, " `"); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// word is a word of a text in lower case, and its line. A stop, such as a comma,
// is an empty word: a phrase does not reach across it.
type word struct {
	text string
	line int
}

// find reports the banned words of a text that stands at a place of a package or page; each
// finding begins with path and line. The exceptions of a row match the owner, which is the
// package or page, or the file itself.
func (g glossary) find(where place, path, owner string, text []word) (findings []string) {
	for i, first := range text {
		for _, form := range g[first.text] {
			if form.places&where == 0 || !startsWith(text[i:], form.words) || matchesAny(form.except, owner) || matchesAny(form.except, path) {
				continue
			}
			findings = append(findings, fmt.Sprintf("%s:%d: %q is not a word of the glossary; use: %s",
				path, first.line, strings.Join(form.words, " "), form.instead))
		}
	}
	return findings
}

// startsWith reports whether a text begins with a form.
func startsWith(text []word, form []string) bool {
	return len(text) >= len(form) && slices.EqualFunc(text[:len(form)], form, func(w word, f string) bool { return w.text == f })
}
