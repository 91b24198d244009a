package render

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// A cache changes no bytes, Problems or origins, after any change.
func TestCacheChangesNothing(t *testing.T) {
	t.Parallel()
	loaded, cache := load(t), NewCache()
	static := shopStatic(5)
	static.Servers[2].Locations[0].Rewrite = &model.Rewrite{Pattern: "a", Target: "\n"}
	e := testEnvironment()
	step := func(name string) {
		t.Helper()
		want, wantProblems := loaded.Render(static, e, nil)
		got, problems := loaded.Render(static, e, cache)
		if diff := cmp.Diff(string(want.Bytes()), string(got.Bytes())); diff != "" || !want.Equal(got) || want.Hash() != got.Hash() {
			t.Errorf("%s:\n%s", name, diff)
		}
		if diff := cmp.Diff(wantProblems, problems); diff != "" || len(problems) != 1 {
			t.Errorf("%s: problems %v\n%s", name, problems, diff)
		}
		if diff := cmp.Diff(want.SourceMap(), got.SourceMap()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	step("first")
	step("the same again")
	static.Servers = slices.Insert(static.Servers, 3, shopServer(77))
	step("one more")
	static.Servers = slices.Delete(static.Servers, 1, 2)
	step("one less")
	e.IPv6 = false
	step("another environment")
	values, _ := settings.Read(nil)
	values.HSTS.Enabled = false
	static.Blocks = values.Blocks()
	step("other settings")
	values.LogFormat.Format = "$location_path"
	static.Blocks = values.Blocks()
	step("another log format")
	values.Log.DefaultBackend = true
	static.Blocks = values.Blocks()
	step("a log of all requests")
	values.Forwarded.Use, values.Client.Underscores = true, true
	values.HTTPSnippet.Text = "proxy_set_header X-Original-Forwarded-For $http_x_sent;"
	static.Blocks = values.Blocks()
	step("headers of proxies, and of an http-snippet")
	values.Forwarded.ForHeader = "X-Client"
	static.Blocks = values.Blocks()
	step("another header of proxies")
}

// The same arguments give the same file, by pointer.
func TestCacheKeepsTheFile(t *testing.T) {
	t.Parallel()
	loaded, cache, static := load(t), NewCache(), shopStatic(3)
	first, _ := loaded.Render(static, testEnvironment(), cache)
	static.Servers = slices.Clone(static.Servers)
	if again, _ := loaded.Render(static, testEnvironment(), cache); again != first {
		t.Error("the same servers are another file")
	}
	other := testEnvironment()
	other.HTTPPort++
	if again, _ := loaded.Render(static, other, cache); again == first {
		t.Error("another environment is the same file")
	}
}

// Files share the text of unchanged servers.
func TestCacheKeepsServers(t *testing.T) {
	t.Parallel()
	loaded, cache, static := load(t), NewCache(), shopStatic(3)
	first, _ := loaded.Render(static, testEnvironment(), cache)
	static.Servers[2] = shopServer(1)
	second, _ := loaded.Render(static, testEnvironment(), cache)
	shared := 0
	for _, c := range first.chunks {
		if slices.Contains(second.chunks, c) {
			shared++
		}
	}
	if shared != 3 {
		t.Errorf("%d servers are shared, want 3 of 4", shared)
	}
	static.Servers = static.Servers[:2]
	loaded.Render(static, testEnvironment(), cache)
	if len(cache.servers) != 2 {
		t.Errorf("the cache holds %d servers, want the 2 of the last time", len(cache.servers))
	}
}

// A file of some servers of another one has the same bytes with and without its cache.
func TestFilesLendTheirServers(t *testing.T) {
	t.Parallel()
	loaded, static, e := load(t), shopStatic(6), testEnvironment()
	file, _ := loaded.Render(static, e, NewCache())
	some := model.Static{Blocks: static.Blocks, Servers: []*model.Server{{}, static.Servers[1], shopServer(77), static.Servers[4]}}
	cache := file.Cache(some.Servers)
	if len(cache.servers) != 2 {
		t.Errorf("the cache has %d servers, not the two that the file has", len(cache.servers))
	}
	lent, lentProblems := loaded.Render(some, e, cache)
	want, problems := loaded.Render(some, e, nil)
	if diff := cmp.Diff(string(want.Bytes()), string(lent.Bytes())); diff != "" || !slices.Equal(problems, lentProblems) {
		t.Error(diff, problems, lentProblems)
	}
	if !slices.ContainsFunc(lent.chunks, func(c *chunk) bool { return c.server && slices.Contains(file.chunks, c) }) {
		t.Error("every server was printed again")
	}
	other := e
	other.IPv6 = !e.IPv6
	lent, _ = loaded.Render(some, other, file.Cache(some.Servers))
	if want, _ := loaded.Render(some, other, nil); !want.Equal(lent) {
		t.Error("the text of another environment was taken")
	}
}
