package debug

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sluice/internal/debugapi"
)

// Words are found in a line or in its origin, in any case, and pages have each line once.
func TestPartOfConf(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	conf := func(query string) (c debugapi.Conf) {
		t.Helper()
		if err := json.Unmarshal([]byte(get(t, o, "/conf?format=json&"+query)), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	all := conf("")
	if all.Matched != all.Total || len(all.Lines) != all.Total {
		t.Fatalf("all: %d of %d lines, %d matched", len(all.Lines), all.Total, all.Matched)
	}
	for search, line := range map[string]string{
		"LISTEN  SSL":           "ssl",
		"ingress wild/ALL":      `location ^~ "/a/"`,
		"shop.example location": "location",
		"sluice worker":         "worker_processes",
	} {
		found := conf("search=" + url.QueryEscape(search))
		if found.Matched == 0 || found.Matched == found.Total || found.Matched != len(found.Lines) {
			t.Fatalf("%s: %d lines of %d, %d matched", search, len(found.Lines), found.Total, found.Matched)
		}
		has := false
		for _, l := range found.Lines {
			whole := strings.ToLower(strings.Join([]string{l.Text, l.Object.String(), l.Behaviour, l.Host, l.Stream, "sluice"}, " "))
			for _, word := range strings.Fields(strings.ToLower(search)) {
				if !strings.Contains(whole, word) {
					t.Errorf("%s: it finds line %d: %s", search, l.Number, whole)
				}
			}
			has = has || strings.Contains(l.Text, line)
		}
		if !has {
			t.Errorf("%s: it does not find %s", search, line)
		}
	}
	if none := conf("search=nowhere"); none.Matched != 0 || len(none.Lines) != 0 || none.Total != all.Total {
		t.Errorf("nothing is found as %+v", none)
	}
	for i := 0; i < all.Total; i += 7 {
		page := conf(fmt.Sprintf("offset=%d&limit=7", i))
		if page.Matched != all.Total || len(page.Lines) != min(7, all.Total-i) || page.Lines[0].Number != i+1 {
			t.Fatalf("from %d: %+v", i, page)
		}
	}
	if part, host := conf("host=shop.example&search=location&limit=1"), conf("host=shop.example"); part.Matched >= host.Matched || len(part.Lines) != 1 {
		t.Errorf("of a host with %d lines: %+v", host.Matched, part)
	}
}

func TestPartIsRefused(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	for query, want := range map[string]string{
		"limit=3":                "limit: want it with format=json (got \"3\")\n",
		"search=a&format=text":   "search: want it with format=json (got \"a\")\n",
		"format=json&limit=0":    "limit: want a whole number from 1 to 1000 (got \"0\")\n",
		"format=json&limit=1001": "limit: want a whole number from 1 to 1000 (got \"1001\")\n",
		"format=json&offset=-1":  "offset: want a whole number from 0 to 2147483647 (got \"-1\")\n",
		"format=json&offset=x":   "offset: want a whole number from 0 to 2147483647 (got \"x\")\n",
	} {
		if status, text := ask(o, http.MethodGet, "/conf?"+query); status != http.StatusBadRequest || text != want {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	if status, text := ask(o, http.MethodGet, "/conf?format=json&search="+strings.Repeat("a", debugapi.MostSearch+1)); status != http.StatusBadRequest || !strings.HasPrefix(text, "search: want words of at most 200 bytes") {
		t.Errorf("a long search: %d %s", status, text)
	}
}
