package nginx

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// TestTestApartWaitsForNobody: a small file is tested while somebody else has the turn, though
// its ports are in use, and leaves nothing behind.
func TestTestApartWaitsForNobody(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p, address := s.started(), freeAddress(t)
		s.apply(p, s.web(address, "served"))
		if err := p.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer p.release()
		before := s.entries(".")
		if err := p.TestApart(t.Context(), s.web(address, "tested")); err != nil {
			t.Errorf("the test said %v", err)
		}
		err := p.TestApart(t.Context(), s.conf("", "server { listen "+address+";\n bad 1; }"))
		var refused *TestError
		if !errors.As(err, &refused) || refused.Line == 0 || !strings.Contains(refused.Text, "bad") {
			t.Errorf("the test of a bad file said %v", err)
		}
		if after := s.entries("."); len(after) != len(before) {
			t.Errorf("left behind: before %q, after %q", before, after)
		}
	})
}

// TestTestApartEndsSoon: a name that does not resolve keeps nginx waiting. That is a refusal,
// but a test that a signal ended is none.
func TestTestApartEndsSoon(t *testing.T) {
	t.Parallel()
	s := newSite(t, Options{})
	p := s.process()
	script := func(text string) {
		t.Helper()
		s.write("slow", "#!/bin/sh\n"+text+"\n")
		if err := os.Chmod(s.options.path("slow"), 0o755); err != nil {
			t.Fatal(err)
		}
		p.install.argv = []string{s.options.path("slow")}
	}
	script("exec sleep 600")
	began := time.Now()
	err := p.TestApart(t.Context(), s.conf("", ""))
	var refused *TestError
	if !errors.As(err, &refused) || time.Since(began) < apartTime {
		t.Errorf("after %v the test said %v", time.Since(began), err)
	}
	script("kill -9 $$")
	if err := p.TestApart(t.Context(), s.conf("", "")); err == nil || errors.As(err, &refused) {
		t.Errorf("the test that was killed said %v", err)
	}
	script(`test "$(cat /proc/self/oom_score_adj)" = 1000 || sleep 1; test "$(cat /proc/self/oom_score_adj)" = 1000`)
	if err := p.TestApart(t.Context(), s.conf("", "")); err != nil {
		t.Errorf("the test is not the first to end: %v", err)
	}
}

func TestListeningApart(t *testing.T) {
	t.Parallel()
	in := "server {\n\tlisten 80 default_server reuseport;\n\tlisten [::]:80 ipv6only=on;\n\tlisten 443 ssl;\n\tlisten 443 quic reuseport;\n}\nserver { \n\tlisten 80;\n\tlisten \"unix:/run/x.sock\" proxy_protocol backlog=7;\n\treturn 200 \"listen 1;\";\n}\n"
	want := "server {\n\tlisten \"unix:/s/0\" default_server;\n\tlisten \"unix:/s/1\";\n\tlisten \"unix:/s/2\" ssl;\n\tlisten \"unix:/s/3\";\n}\nserver { \n\tlisten \"unix:/s/0\";\n\tlisten \"unix:/s/4\" proxy_protocol backlog=7;\n\treturn 200 \"listen 1;\";\n}\n"
	if got := string(listeningApart([]byte(in), "/s")); got != want {
		t.Errorf("got\n%s", got)
	}
}
