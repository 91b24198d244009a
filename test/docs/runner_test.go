package docs

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"sluice/test/kit"
	"sluice/test/pages"
)

// play runs a page without a cluster, and gives the faults as text.
func play(t *testing.T, text string) string {
	t.Helper()
	page, faults := pages.Parse("page.md", strings.ReplaceAll(text, "'''", "```"))
	folder := t.TempDir()
	shell, err := StartShell(folder, t.TempDir(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	defer shell.Close()
	r := &Runner{Page: page, Folder: folder, Shell: shell}
	var all []string
	for _, f := range append(faults, r.Run()...) {
		all = append(all, f.String())
	}
	return strings.Join(all, "\n")
}

// TestGoodPage: nothing is said of a page that is as it should be.
func TestGoodPage(t *testing.T) {
	t.Parallel()
	faults := play(t, `
# A page

<!-- file: sub/web.yaml -->
'''yaml
kind: Ingress
'''

- in a list:

  '''sh
  # what one types
  cd sub
  export NAME=web \
    OTHER=x
  cat > here <<EOF
  two
  words
  EOF
  '''

<!-- status: 1 -->
'''console
# What is there.
$ ls; cat here
here
web.yaml
two
…

# It is not this one.
$ printf '%s\n' "$NAME  12s" 'nothing of this' 'ends'; \
>   false
<name>    3m4s
…
ends
'''

<!-- output of: printf 'a {\n  b;\n}\nc\n' -->
'''nginx
  b;
}
'''

<!-- background -->
'''console
$ echo began; sleep 600
began
'''

<!-- background, ready when: test -e mark -->
'''sh
sleep 0.1; touch mark; sleep 600
'''

<!-- eventually -->
'''console
$ date +%N >> tries; wc -l < tries
3
'''

<!-- not run: it cannot be -->
'''sh
false
'''

'''text
    a picture
'''

Some prose, <!-- with a comment -->.
`)
	if faults != "" {
		t.Error(faults)
	}
}

// TestBadPages: each of these pages is found to be wrong, at the line where it is.
func TestBadPages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ page, want string }{
		"command that fails":           {"'''sh\ntrue\nls /nowhere\n'''", "page.md:3: $ ls /nowhere\nits status is 2, and not 0"},
		"command that is not there":    {"'''sh\nkubectll get ingress\n'''", "its status is 127"},
		"unknown flag":                 {"'''sh\nls --shiny\n'''", "page.md:2: $ ls --shiny"},
		"failure in a pipe":            {"'''sh\nfalse | cat\n'''", "page.md:2: $ false | cat"},
		"other output":                 {"'''console\n$ echo one\ntwo\n'''", "this was not printed in its place: two; it printed:\none"},
		"more output":                  {"'''console\n$ printf 'a\\nb\\n'\na\n'''", "more was printed than is shown"},
		"output that nobody shows":     {"'''console\n$ echo one\n'''", "more was printed"},
		"less output":                  {"'''console\n$ echo a\na\nb\n'''", "not printed in its place: b"},
		"success that was to fail":     {"<!-- status: 1 -->\n'''sh\ntrue\n'''", "its status is 0, and not 1"},
		"other order":                  {"'''console\n$ printf 'a\\nb\\n'\nb\na\n'''", "not printed in its place: b"},
		"quotes that are not closed":   {"'''sh\necho 'a\n'''", "page.md:2: $ echo 'a"},
		"exit":                         {"'''sh\nexit 0\n'''", "the shell has ended"},
		"nginx that is not printed":    {"<!-- output of: echo b -->\n'''nginx\na;\n'''", "page.md:3: $ echo b\nthis was not printed in its place: a;"},
		"nginx of nowhere":             {"'''nginx\na;\n'''", "page.md:1: nobody knows where this comes from"},
		"background that ends":         {"<!-- background -->\n'''console\n$ echo one\ntwo\n'''", "page.md:3: $ echo one\nit has ended, or is not ready"},
		"no language":                  {"'''\nls\n'''", `page.md:1: a block of the language ""`},
		"indented block":               {"Do this:\n\n    make run\n", "page.md:3: a block that is only indented"},
		"comment without a block":      {"<!-- not run: because -->\n\n'''sh\ntrue\n'''", "page.md:1: no block follows"},
		"no reason":                    {"<!-- not run: -->\n'''sh\ntrue\n'''", `page.md:1: the comment "not run:": "not run:" wants a value`},
		"block without an end":         {"'''sh\ntrue\n", "page.md:1: the block is never closed"},
		"mark that fits no such block": {"<!-- status: 1 -->\n'''text\nx\n'''", "has no commands"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := play(t, test.page); !strings.Contains(got, test.want) {
				t.Errorf("want %q in:\n%s", test.want, got)
			}
		})
	}
}

// TestFailureEndsAPage: what follows a command that prepares something may wait for it.
func TestFailureEndsAPage(t *testing.T) {
	t.Parallel()
	const want = "page.md:2: $ echo gone; (exit 2)\nits status is 2, and not 0; it printed:\ngone"
	if got := strings.TrimSpace(play(t, "'''sh\necho gone; (exit 2)\nfalse\n'''\n\n'''console\n$ echo one\ntwo\n'''")); got != want {
		t.Errorf("got\n%s\nwant only\n%s", got, want)
	}
}

// TestAllowances: what may be otherwise, and what may not.
func TestAllowances(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		shown, printed string
		same           bool
	}{
		{"web   nginx   2m3s", "web  nginx      9s", true},
		{"web   nginx   2m3s", "web  other      9s", false},
		{"pod/web-6c8f9b7d55-bcdfg ready", "pod/web-58f7c6d9b4-x2z9q ready", true},
		{"pod/web-6c8f9b7d55-bcdfg ready", "pod/api-58f7c6d9b4-x2z9q ready", false},
		{"at 2026-11-21T10:00:00Z", "at 2027-01-02T03:04:05.678Z", true},
		{"sluice-controller-5644798bfc-mt2ng is", "sluice-controller-bdf495579-rrwwk is", true},
		{"sluice-controller-5644798bfc-mt2ng is", "sluice-controller-bfc59d-4ptgd is", true},
		{"sluice-controller-leader is", "sluice-controller-reader is", false},
		{"10.244.0.7:80", "10.244.1.30:80", true},
		{"10.244.0.7:80", "10.244.1.30:81", false},
		{"  indented", "indented", false},
		{"proxy_read_timeout 60s;", "proxy_read_timeout 30s;", false},
		{"ADDRESS=<address>", "ADDRESS=10.0.0.1", true},
		{"HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found", false},
		{`{"host":"shop.example",…}`, `{"host":"shop.example","x":1}`, true},
		{`{"host":"shop.example",…}`, `{"host":"blog.example","x":1}`, false},
	} {
		if got := Differs([]string{test.shown}, test.printed+"\n") == ""; got != test.same {
			t.Errorf("%q shown, %q printed: same=%t", test.shown, test.printed, got)
		}
	}
}

// TestCloseEndsWhatWasStarted: nothing of a page outlives it, whatever it does
// with signals.
func TestCloseEndsWhatWasStarted(t *testing.T) {
	t.Parallel()
	shell, err := StartShell(t.TempDir(), t.TempDir(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	started, err := shell.Start(`sleep 600 & echo $!; wait`)
	if err != nil {
		t.Fatal(err)
	}
	kit.Await(t, "what it prints", func() bool { return started.Printed() != "" })
	id, err := strconv.Atoi(strings.TrimSpace(started.Printed()))
	if err != nil {
		t.Fatal(err)
	}
	shell.Close()
	// Its state is the third field; that of one that nobody has reaped is Z.
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("process %d goes on: %s", id, stat)
	}
}
