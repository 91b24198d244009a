package pcre

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// references are the commands of each pcre2test that is there: the system's, and
// that of the root file system of the second nginx, in SLUICE_NGINX_ROOT. Each
// asks the PCRE2 of an nginx that Sluice is tested with.
func references(t testing.TB) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	if path, err := exec.LookPath("pcre2test"); err == nil {
		found["system"] = []string{path}
	}
	root := os.Getenv("SLUICE_NGINX_ROOT")
	second := filepath.Join(root, "usr/bin/pcre2test")
	loaders, _ := filepath.Glob(filepath.Join(root, "usr/lib*/ld-linux-*.so.*"))
	libraries, _ := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	if _, err := os.Stat(second); root != "" && err == nil && len(loaders) > 0 && len(libraries) > 0 {
		found["second"] = []string{loaders[0], "--library-path", libraries[0], second}
	}
	if len(found) == 0 {
		t.Skip("pcre2test is not installed: test/setup.sh --tests installs it")
	}
	return found
}

// question is a pattern and the subjects that it is tried on.
type question struct {
	pattern  string
	flags    Flags
	subjects []string
}

// reply is PCRE2's answer to a question.
type reply struct {
	// refused is PCRE2's message.
	refused string
	matches []match
}

// match is an answer to one subject. groups is nil if it does not match; failed
// is set if the search was given up.
type match struct {
	groups []int
	failed string
}

// machineCode asks as nginx does, which has pcre_jit on.
func machineCode(command []string) []string { return append(slices.Clone(command), "-jit") }

// ask puts questions to one process of pcre2test. Subjects may hold no "<" and no
// backslash: it does not quote them.
func ask(t testing.TB, command []string, questions []question) []reply {
	t.Helper()
	var in bytes.Buffer
	for _, q := range questions {
		fmt.Fprintf(&in, "/%s/hex%s\n", hexed(q.pattern), map[bool]string{true: ",caseless"}[q.flags&Caseless != 0])
		for _, subject := range q.subjects {
			fmt.Fprintf(&in, "    %s\\=allaftertext\n", escaped(subject))
		}
		in.WriteByte('\n')
	}
	cmd := exec.Command(command[0], append(slices.Clone(command[1:]), "-q")...)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	var replies []reply
	blocks := strings.Split(string(out), "\n\n")
	for i, q := range questions {
		if i >= len(blocks) {
			t.Fatalf("%v ended before %q", command, q.pattern)
		}
		replies = append(replies, read(t, q, strings.Split(blocks[i], "\n")))
	}
	return replies
}

// leastLimit is the least that nginx.conf allows a pattern: an answer of ours has
// to be one that PCRE2 gets to within it.
const leastLimit = "(*LIMIT_MATCH=20000)"

func hexed(pattern string) string {
	if pattern == "" {
		return "28 3f 3a 29" // pcre2test takes no empty hex pattern: (?:)
	}
	return hex.EncodeToString([]byte(leastLimit + atStart(pattern)))
}

// atStart makes a pattern begin at the start of the subject, as package render does.
func atStart(pattern string) string {
	if shape, err := ShapeOf(pattern); err != nil || shape.Anchored {
		return pattern
	}
	return "^(?s:.*?)(?:" + pattern + ")"
}

func escaped(subject string) string {
	var out strings.Builder
	for i := range len(subject) {
		fmt.Fprintf(&out, `\x%02x`, subject[i])
	}
	return out.String()
}

// read takes what pcre2test printed for one question: the pattern, and for each
// subject the subject and what was found.
func read(t testing.TB, q question, lines []string) reply {
	t.Helper()
	if len(lines) > 1 && strings.HasPrefix(lines[1], "Failed: ") {
		return reply{refused: lines[1]}
	}
	var answer reply
	var found [][]string
	for _, line := range lines[1:] {
		if strings.HasPrefix(line, "    ") {
			found = append(found, nil)
		} else if len(found) > 0 {
			found[len(found)-1] = append(found[len(found)-1], line)
		}
	}
	if len(found) != len(q.subjects) {
		t.Fatalf("%q: pcre2test printed %q", q.pattern, lines)
	}
	for i, subject := range q.subjects {
		answer.matches = append(answer.matches, readMatch(t, subject, found[i]))
	}
	return answer
}

// readMatch takes what was found in one subject. A line "1: ab" is a group, and
// the line "1+ cd" after it what follows that in the subject.
func readMatch(t testing.TB, subject string, lines []string) match {
	t.Helper()
	var m match
	for _, line := range lines {
		switch {
		case line == "No match":
			return match{}
		case strings.HasPrefix(line, "Failed: "):
			return match{failed: line}
		case strings.HasSuffix(line, ": <unset>"):
			m.groups = append(m.groups, -1, -1)
		case len(line) > 3 && line[2] == ':' || len(line) > 3 && line[3] == ':':
			_, text, _ := strings.Cut(line, ": ")
			m.groups = append(m.groups, len(raw(t, text)), 0)
		default:
			_, rest, ok := strings.Cut(line, "+ ")
			last := len(m.groups) - 1
			if !ok || last < 0 {
				t.Fatalf("%q: pcre2test printed %q", subject, lines)
			}
			m.groups[last] = len(subject) - len(raw(t, rest))
			m.groups[last-1] = m.groups[last] - m.groups[last-1]
		}
	}
	return m
}

// raw takes the escapes of pcre2test off a text.
func raw(t testing.TB, text string) string {
	t.Helper()
	var out strings.Builder
	for text != "" {
		if after, ok := strings.CutPrefix(text, `\x`); ok {
			c, err := strconv.ParseUint(after[:2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteByte(byte(c))
			text = after[2:]
			continue
		}
		out.WriteByte(text[0])
		text = text[1:]
	}
	return out.String()
}

// disagreement says where our answer is not PCRE2's, "" where it is. No answer
// is none.
func disagreement(q question, theirs reply) string {
	compiled, err := Compile(q.pattern, q.flags)
	var syntax *SyntaxError
	switch {
	case errors.Is(err, ErrUnsupported):
		return ""
	case errors.As(err, &syntax):
		if theirs.refused == "" {
			return fmt.Sprintf("%q: we say %v, PCRE2 takes it", q.pattern, err)
		}
		return ""
	case err != nil:
		return fmt.Sprintf("%q: an error of no kind: %v", q.pattern, err)
	case theirs.refused != "" && !Taken(q.pattern):
		return ""
	case theirs.refused != "":
		return fmt.Sprintf("%q: we take it, PCRE2 says %s", q.pattern, theirs.refused)
	}
	for i, subject := range q.subjects {
		ours, ok, err := compiled.Match(subject)
		if err != nil {
			continue
		}
		want := theirs.matches[i].groups
		for ok && len(want) < len(ours) && want != nil {
			want = append(want, -1, -1)
		}
		if len(ours) > 0 && len(want) > 0 && atStart(q.pattern) != q.pattern {
			ours[0] = want[0]
		}
		if theirs.matches[i].failed != "" || ok != (want != nil) || !slices.Equal(ours, want) {
			return fmt.Sprintf("%q (caseless %d) on %q: we say %v, PCRE2 %v %s", q.pattern, q.flags, subject, ours, want, theirs.matches[i].failed)
		}
	}
	return ""
}
