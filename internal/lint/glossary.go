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

// place is where a word may stand, as bits.
type place uint8

const (
	inIdentifiers place = 1 << iota
	inText
)

var placeNames = map[string]place{
	"identifiers": inIdentifiers, "text": inText, "both": inIdentifiers | inText,
}

// bannedWord is a row of the table.
type bannedWord struct {
	forms   [][]string // each a sequence of words in lower case
	places  place
	except  []string // patterns of packages and of pages
	instead string
}

const bannedHeading = "## Words we do not use"

// parseGlossary reads the table of banned words out of the glossary's page.
func parseGlossary(page string) ([]bannedWord, error) {
	_, section, found := strings.Cut(page, bannedHeading+"\n")
	if !found {
		return nil, fmt.Errorf("no section %q", bannedHeading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var words []bannedWord
	var errs []error
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| word ") || strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "| --") {
			continue
		}
		if len(cells) != 3 {
			errs = append(errs, fmt.Errorf("%d cells in %q, want word, where, use instead", len(cells), strings.TrimSpace(line)))
			continue
		}
		word, err := parseBanned(cells[0], cells[1], cells[2])
		words, errs = append(words, word), append(errs, err)
	}
	return words, errors.Join(errs...)
}

func parseBanned(forms, where, instead string) (bannedWord, error) {
	w := bannedWord{instead: strings.TrimSpace(instead)}
	for form := range strings.SplitSeq(forms, ",") {
		var words []string
		for _, part := range strings.Fields(strings.Trim(strings.TrimSpace(form), "`")) {
			for _, word := range nameWords(part, 0) {
				words = append(words, word.text)
			}
		}
		if len(words) > 0 {
			w.forms = append(w.forms, words)
		}
	}
	where, except, _ := strings.Cut(where, "; not in ")
	for name := range strings.SplitSeq(where, ",") {
		p, known := placeNames[strings.TrimSpace(name)]
		if !known {
			return w, fmt.Errorf("%q: a word is banned in identifiers, text or both, not in %q", strings.TrimSpace(forms), strings.TrimSpace(name))
		}
		w.places |= p
	}
	for pattern := range strings.SplitSeq(except, ",") {
		if pattern = strings.Trim(strings.TrimSpace(pattern), "`"); pattern != "" {
			w.except = append(w.except, pattern)
		}
	}
	if len(w.forms) == 0 || w.instead == "" {
		return w, fmt.Errorf("row of %q: expected a word and what to use instead", strings.TrimSpace(forms))
	}
	return w, nil
}

// glossary finds banned words.
type glossary struct {
	byFirst map[string][]bannedForm // by the first word of the form
}

type bannedForm struct {
	words []string
	*bannedWord
}

func newGlossary(words []bannedWord) *glossary {
	g := &glossary{byFirst: make(map[string][]bannedForm)}
	for i := range words {
		for _, form := range words[i].forms {
			g.byFirst[form[0]] = append(g.byFirst[form[0]], bannedForm{form, &words[i]})
		}
	}
	return g
}

// word is a word of a text in lower case, and its line. A stop, such as a comma,
// is an empty word: a phrase does not reach across it.
type word struct {
	text string
	line int
}

// find reports the banned words of a text that stands at a place of a package or
// page; each finding begins with path and line.
func (g *glossary) find(where place, path, owner string, text []word) (findings []string) {
	for i, first := range text {
		for _, form := range g.byFirst[first.text] {
			if form.places&where == 0 || !startsWith(text[i:], form.words) || matchesAny(form.except, owner) || matchesAny(form.except, path) {
				continue
			}
			findings = append(findings, fmt.Sprintf("%s:%d: %q is not a word of the glossary; use: %s",
				path, first.line, strings.Join(form.words, " "), form.instead))
		}
	}
	return findings
}

func startsWith(text []word, form []string) bool {
	return len(text) >= len(form) && slices.EqualFunc(text[:len(form)], form, func(w word, f string) bool { return w.text == f })
}
