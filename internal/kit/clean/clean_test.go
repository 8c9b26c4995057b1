package clean

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"plain\ttext\n":              "plain\ttext\n",
		"\x1b]0;title\a\x1b[2Jgone":  `\x1b]0;title\a\x1b[2Jgone`,
		"\u009b31m\r\x7f\x00":        `\u009b31m\r\x7f\x00`,
		"Grüße 世界 👩‍💻":               "Grüße 世界 👩‍💻",
		"user\u202egnp.exe":          `user\u202egnp.exe`,
		"\u2066a\u2069\u200f\u061c":  `\u2066a\u2069\u200f\u061c`,
		"one\u2028two\u2029":         `one\u2028two\u2029`,
		"bad \xff\xfe, cut \xe4\xb8": "bad \ufffd\ufffd, cut \ufffd\ufffd",
		"<script>alert(1)</script>":  "<script>alert(1)</script>", // html/template escapes it
	} {
		if got := Text(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{
		{"a name", 100, "a name"},
		{"two\nlines\tand\r", 100, `two\nlines\tand\r`},
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "abcde…"},
		{"äöü", 3, "ä…"},
		{"世界", 2, "…"},
		{"\x80\x80\x80\x80\x80\x80", 4, "\ufffd\ufffd\ufffd\ufffd…"},
		{"abc", 0, "…"},
	} {
		if got := Line(c.text, c.max); got != c.want {
			t.Errorf("Line(%q, %d) = %q, want %q", c.text, c.max, got, c.want)
		}
	}
}

func TestCutLines(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"abcd\nabcd":           "abcd\nabcd",
		"abcdefg\nab\nabcde\n": "abcd… (3 more bytes)\nab\nabcd… (1 more bytes)\n",
		"abcäö":                "abc… (4 more bytes)",
	} {
		if got := CutLines(text, 4); got != want {
			t.Errorf("CutLines(%q, 4) = %q, want %q", text, got, want)
		}
	}
}

// TestAnyTextBecomesSafe: whatever the input, the result is UTF-8 without dangerous characters, a
// second pass changes nothing, and lines have the bounds.
func TestAnyTextBecomesSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		shown := Text(text)
		checkSafe(t, shown, "\n\t")
		checkSafe(t, Line(text, limit), "")
		if again := Text(shown); again != shown {
			t.Fatalf("%q is shown as %q, and that as %q", text, shown, again)
		}
		if got, want := strings.Count(shown, "\n"), strings.Count(text, "\n"); got != want {
			t.Fatalf("%d newlines have become %d", want, got)
		}
		short := CutLines(text, limit)
		for line := range strings.Lines(short) {
			if most := limit + len("… (1000000 more bytes)\n"); len(line) > most {
				t.Fatalf("line of %d bytes, at most %d are expected", len(line), most)
			}
		}
		if got, want := strings.Count(short, "\n"), strings.Count(text, "\n"); got != want {
			t.Fatalf("%d newlines have become %d", want, got)
		}
	})
}

// checkSafe checks that a text is UTF-8 without controls except some.
func checkSafe(t *rapid.T, text, except string) {
	if !utf8.ValidString(text) {
		t.Fatalf("%q is not UTF-8", text)
	}
	for _, r := range text {
		if (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && !strings.ContainsRune(except, r) {
			t.Fatalf("%q has %q", text, r)
		}
	}
}

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"name":                    "name",
		"a=b":                     "a=b",
		"=cmd|'/C calc'!A0":       "'=cmd|'/C calc'!A0",
		"+1":                      "'+1",
		"-1+1":                    "'-1+1",
		"@SUM(A1)":                "'@SUM(A1)",
		"\t=1":                    "'\t=1",
		"\r=1":                    "'\r=1",
		"\n=1":                    "'\n=1",
		"＝1+1":                    "'＝1+1",
		`",=HYPERLINK("http://")`: `",=HYPERLINK("http://")`, // encoding/csv keeps it one cell
	} {
		if got := Cell(text); got != want {
			t.Errorf("Cell(%q) = %q, want %q", text, got, want)
		}
		var file bytes.Buffer
		w := csv.NewWriter(&file)
		must.Do(t, w.Write([]string{"x", Cell(text), "y"}))
		w.Flush()
		cells, err := csv.NewReader(&file).Read()
		if err != nil || len(cells) != 3 {
			t.Errorf("%q is read as %q, %v; want three cells", text, cells, err)
		}
	}
}

func TestSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"hive.metastore.Password":          true,
		"ldap.passwd":                      true,
		"fs.s3a.secret.key":                true,
		"fs.s3a.access.key":                true,
		"my.api_key":                       true,
		"dfs.delegation.TOKEN.file":        true,
		"hadoop.security.credential.paths": true,
		"named.by.the.job":                 true,
		"named.by.the.jobs":                false,
		"mapreduce.job.name":               false,
		"mapreduce.job.output.key.class":   false,
		"monkeys":                          false,
	} {
		if got := Secret(name, []string{"named.by.the.job"}); got != want {
			t.Errorf("Secret(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestProperties(t *testing.T) {
	given := map[string]string{
		RedactedProperties:        " company.pin,, company.salt ",
		"company.pin":             "1234",
		"company.salt":            "",
		"db.password":             "hunter2",
		"db.url":                  "jdbc:postgres://ada:hunter2@db:5432/x?user=ada&password=hunter2&ssl=1",
		"hdfs.url":                "hdfs://nn:8020/path@x:y",
		"mapreduce.map.java.opts": `-Xmx1g -Dtrust.storePassword=hunter2 -Da.token="hunter2 3" -Db.Secret='hunter2' -Dkeep=this`,
		"empty":                   "",
	}
	want := map[string]string{
		RedactedProperties:        " company.pin,, company.salt ",
		"company.pin":             Hidden,
		"company.salt":            Hidden,
		"db.password":             Hidden,
		"db.url":                  "jdbc:postgres://ada:********@db:5432/x?user=ada&password=********&ssl=1",
		"hdfs.url":                "hdfs://nn:8020/path@x:y",
		"mapreduce.map.java.opts": `-Xmx1g -Dtrust.storePassword=******** -Da.token=******** -Db.Secret=******** -Dkeep=this`,
		"empty":                   "",
	}
	before := given["db.password"]
	if diff := cmp.Diff(want, Properties(given)); diff != "" {
		t.Errorf("properties as they may be shown (-want +got):\n%s", diff)
	}
	if given["db.password"] != before {
		t.Error("Properties has changed its argument")
	}
	if got := Properties(nil); len(got) != 0 {
		t.Errorf("no properties are shown as %v", got)
	}
}
