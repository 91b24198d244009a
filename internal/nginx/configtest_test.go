package nginx

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestTest(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		lines := func(http string) int { return strings.Count(string(s.conf("", http)), "\n") - 1 }
		tests := []struct {
			name, http string
			want       *TestError
		}{
			{"good", "", nil},
			{"unknown directive", "# one\nbad 1;", &TestError{Text: `unknown directive "bad"`, Line: lines("# one\nbad 1;")}},
			{"unknown variable", "server { listen 127.0.0.1:1; return 200 $nothing; }", &TestError{Text: `unknown "nothing" variable`}},
			{"unfinished", "server {", &TestError{Text: `unexpected end of file, expecting "}"`, Line: lines("server {") + 2}},
		}
		p := s.process()
		for _, test := range tests {
			err := p.Test(t.Context(), s.conf("", test.http))
			var got *TestError
			if err != nil && !errors.As(err, &got) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(TestError{}, "Raw")); diff != "" {
				t.Errorf("%s: %s\n%v", test.name, diff, err)
			}
		}
		if left := s.entries("."); strings.Contains(strings.Join(left, " "), "candidate") {
			t.Errorf("candidates are left behind: %q", left)
		}
	})
}

func TestTestEndsInTime(t *testing.T) {
	t.Parallel()
	s := newSite(t, Options{TestTimeout: time.Nanosecond})
	err := s.process().Test(t.Context(), s.conf("", ""))
	if got := new(TestError); !errors.As(err, &got) || got.Text != "`nginx -t` did not end within 1ns" {
		t.Errorf("got %v", err)
	}
}

// nginx -t opens sockets and files as a start does; the running nginx must not notice.
func TestTestDisturbsNothing(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, address, other := s.started(), freeAddress(t), freeAddress(t)
		s.apply(p, s.web(address, "served"))
		picture := func() []string {
			status, err := s.status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			counts := []string{strconv.Itoa(status.Load), strconv.Itoa(len(status.Workers)), s.read("nginx.pid"), s.read("nginx.conf")}
			return append(append(counts, s.entries("run")...), get(t, address))
		}
		before := picture()
		for _, conf := range []Conf{
			s.web(address, "the same port"), s.web(other, "another port"), s.conf("", "bad;"),
			s.conf("", "server { listen unix:"+s.options.path("run/new.sock")+"; }"),
		} {
			err := p.Test(t.Context(), conf)
			if refused := new(TestError); err != nil && !errors.As(err, &refused) {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(before, picture()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestParseTestOutput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, output string
		want         TestError
	}{
		{
			"the first severe line, not the warning before it",
			"2026/01/02 03:04:05 [warn] 7#7: conflicting server name in /s/c.conf:3\n2026/01/02 03:04:05 [emerg] 7#7: unknown directive \"x\" in /s/c.conf:12\nnginx: configuration file /s/c.conf test failed\n",
			TestError{Text: `unknown directive "x"`, Line: 12},
		},
		{"the gravest line", "nginx: [error] first\nnginx: [emerg] second\n", TestError{Text: "second"}},
		{"Lua", "nginx: [error] init_by_lua_file error: it broke\nstack traceback:\n", TestError{Text: "init_by_lua_file error: it broke"}},
		{"a line of another file", "nginx: [emerg] unknown directive \"x\" in /etc/mime.types:2\n", TestError{Text: `unknown directive "x" in /etc/mime.types:2`}},
		{"no level", "no\n  such thing in /s/c.conf\n", TestError{Text: "no such thing in the file"}},
		{"a value that looks like a place", "nginx: [emerg] invalid \"a in /s/c.conf:1 b\" in /s/c.conf:9\n", TestError{Text: `invalid "a in the file:1 b"`, Line: 9}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := parseTestOutput(test.output, "/s/c.conf")
			test.want.Raw = test.output
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
