package requests

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestLabelsAreCut(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one too many": "/" + strings.Repeat("x", MostLabel), "a path of 3,900 bytes": "/" + strings.Repeat("x", 3900),
		"two bytes": "/" + strings.Repeat("é", 300), "two bytes, shifted": "/x" + strings.Repeat("é", 300), "four bytes": strings.Repeat("😀", 100),
	} {
		got, other := Label(text), Label(text+"y")
		begin, hash, found := strings.Cut(got, "…")
		if !found || len(hash) != 8 || !strings.HasPrefix(text, begin) || !utf8.ValidString(got) || len(got) > MostLabel || len(got) < MostLabel-utf8.UTFMax {
			t.Errorf("%s: got %q, of %d bytes", name, got, len(got))
		}
		if other == got {
			t.Errorf("%s: a longer text has the same label, %q", name, got)
		}
	}
	for _, text := range []string{"", "/", strings.Repeat("x", MostLabel)} {
		if got := Label(text); got != text {
			t.Errorf("want %q as it is, got %q", text, got)
		}
	}
}

// TestLongPathsAreCut: a path, a host or a canary of any length makes a scrape only a little larger.
// Two long paths stay apart, and a trace finds its series.
func TestLongPathsAreCut(t *testing.T) {
	t.Parallel()
	size := func(host, path, canary string) int {
		o := small
		o.MostOfIngress, o.Most, o.Buckets = 500, 500, ofIngressNginx
		s := New(o)
		for i := range 90 {
			s.Add(fmt.Appendf(nil, "0\n1\t%s shop/web/web/80\t%s\tGET\t%d\t%s\t0.1\t1\t1\t0.1\t0.1\t0.1", host, path, 200+i, canary))
		}
		return len(textOfStore(t, s))
	}
	long := strings.Repeat("x", 3900)
	short := size("h", "/", "c")
	for name, got := range map[string]int{"path": size("h", "/"+long, "c"), "host": size(long, "/", "c"), "canary": size("h", "/", long)} {
		if most := short + 90*100*MostLabel; got > most {
			t.Errorf("a long %s: a scrape of %d bytes, want at most %d (with a short one: %d)", name, got, most, short)
		}
	}
	s := New(small)
	for _, end := range []string{"a", "b"} {
		s.Add(fmt.Appendf(nil, "0\n1\th shop/web/web/80\t/%s%s\tGET\t200\t\t0.1\t1\t1\t\t\t", long, end))
	}
	if s.Series() != 2 {
		t.Errorf("want 2 series of 2 long paths, got %d", s.Series())
	}
	s = New(small)
	s.Add(fmt.Appendf(nil, "0\n1\th shop/web/web/80\t/%s\tGET\t200\t\t0.1\t1\t1\t\t\t", long))
	s.Exemplify(Traced{Host: "h", Namespace: "shop", Ingress: "web", Service: "web", Path: "/" + long, Method: "GET", Status: "200", Trace: "1", Seconds: 0.1, Ended: time.Unix(1, 0)})
	if got := histogramOf(t, s).String(); !strings.Contains(got, "exemplar") {
		t.Errorf("a traced request with a long path is not in its bucket: %s", got)
	}
}
