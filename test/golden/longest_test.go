package golden

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"

	"sluice/internal/model"
	"sluice/test/edges"
	"sluice/test/kit"
)

// TestLongestTextsArePushed gives each text annotation its longest value, and pushes all
// that follows from it to nginx. What Lua takes is written down in wire.lua, apart from
// the tags: a value that only one of them takes would hold up each later push of
// everybody.
func TestLongestTextsArePushed(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("cases/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var cases []*testCase
	for _, path := range paths {
		cases = append(cases, readCase(t, path))
	}
	all := usesIn(t, cases)
	empty := workOut(t, readCase(t, "cases/empty.txtar"), 0)
	nginx, _ := empty.serveTo(t, kit.Nginxes(t)[0], map[string][]model.Endpoint{})
	pushed := map[string]bool{}
	for _, k := range keysRead() {
		longest := longestText(k)
		if k.behaviour == nil || longest == "" || longest == k.usual() {
			continue
		}
		found := false
		for _, u := range all {
			if u.kind != k.kind() || u.name != k.Key || !u.gives(longest) || !u.followed(k) {
				continue
			}
			found = true
			if pushed[u.in.path] {
				continue
			}
			pushed[u.in.path] = true
			if err := nginx.Client.Push(context.Background(), workedOut(t, u.in).config.Dynamic); err != nil {
				t.Fatalf("%s of %s: %v", k.Key, u.in.path, err)
			}
		}
		if !found {
			t.Errorf("%s: no case gives it %s", k.Key, sample(longest))
		}
	}
	if len(pushed) < 10 {
		t.Errorf("only %d cases were pushed", len(pushed))
	}
}

// longestText is the longest of the values at the limits of a text, empty for another key.
func longestText(k key) string {
	longest := ""
	if k.Field.Type.Kind() != reflect.String || k.Type != "string" {
		return ""
	}
	for _, edge := range edges.Of(k.Doc) {
		if len(edge) > len(longest) {
			longest = edge
		}
	}
	return longest
}
