package edges_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/settings"
	"sluice/test/edges"
)

type sample struct {
	Word   string             `key:"word" alias:"old-word" default:"host" validate:"oneof=host path" doc:"A word."`
	Any    string             `key:"any" from:"setting-any" needs:"flag" doc:"A text."`
	Flag   bool               `key:"flag" default:"true" empty:"zero" doc:"A switch."`
	Count  int                `key:"count" default:"5" validate:"min=1,max=10" doc:"A count."`
	Proto  string             `key:"proto" validate:"oneofci=HTTP HTTPS" doc:"A protocol."`
	Size   keys.Size          `key:"size" default:"1m" doc:"A size."`
	Above  keys.Size          `key:"above" default:"1k" validate:"ne=0" doc:"A size above zero."`
	Within keys.Size          `key:"within" default:"32k" validate:"min=32768,max=1073741824" doc:"A size within bounds."`
	Bufs   keys.Buffers       `key:"bufs" default:"4 8k" doc:"Buffers."`
	Number keys.Optional[int] `key:"number" validate:"min=0,max=1000" doc:"A number."`
	Auto   keys.Auto          `key:"auto" default:"auto" doc:"Workers."`
	Time   keys.Duration      `key:"time" default:"1h" doc:"A time."`
	Wait   keys.Duration      `key:"wait" default:"1h" validate:"min=1" doc:"A time above zero."`
	Words  keys.Words         `key:"words" validate:"dive,oneof=error timeout" doc:"Words."`
	Group  struct {
		Risk keys.Risk `key:"risk" default:"High" doc:"A risk."`
	}
	Text string `key:"text" validate:"min=2,max=3"`
	Free int    `key:"free" validate:"min=-1"`
	Long string `key:"long" validate:"oneof=a b c d e"`
}

func TestOf(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"word": {"host", "path"}, "proto": {"HTTP", "HTTPS"}, "words": {"error", "timeout"}, "flag": {"true", "false"},
		"count": {"1", "10"}, "number": {"0", "1000"}, "auto": {"auto", "1", "1024"}, "risk": {"Low", "Critical"},
		"size": {"0", "1048576g"}, "above": {"1048576g", "1"}, "within": {"32k", "1g"}, "bufs": {"1 512", "1024 1g"}, "time": {"0", "10y"}, "wait": {"10y", "1s"},
		"any": nil, "text": {"xx", "xxx"}, "free": {"9223372036854775807", "-1"}, "long": {"a", "e"},
	}
	got := map[string][]string{}
	for _, doc := range keys.Describe(sample{}) {
		got[doc.Key] = edges.Of(doc)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Each rule of ours has values in the table, and each of them is valid: it is an edge of
// every text, or list of texts, with that rule.
func TestEveryRuleHasEdges(t *testing.T) {
	t.Parallel()
	builtIn := map[string]bool{"": true, "dive": true, "min": true, "max": true, "ne": true, "oneof": true, "oneofci": true, "excludes": true, "ip": true}
	docs := keys.Describe(settings.Settings{})
	for _, b := range annotations.All() {
		docs = append(docs, b.Keys...)
	}
	rules := 0
	for _, doc := range docs {
		of, before := reflect.TypeFor[string](), ""
		for rule := range strings.SplitSeq(doc.Field.Tag.Get("validate"), ",") {
			name, _, _ := strings.Cut(rule, "=")
			if name == "dive" {
				of, before = reflect.TypeFor[[]string](), "dive," // what follows is about each item
			}
			if builtIn[name] {
				continue
			}
			rules++
			text := reflect.StructField{Name: "Text", Type: of, Tag: reflect.StructTag(`key:"text" validate:"` + before + name + `"`)}
			if len(edges.OfRule(name)) == 0 {
				t.Errorf("%s: the rule %s has no values", doc.Key, name)
			}
			for _, value := range edges.OfRule(name) {
				if !edges.Accepts(keys.Doc{Key: "text", Field: text}, value) {
					t.Errorf("%s: the rule %s rejects %q", doc.Key, name, value)
				}
			}
		}
	}
	if rules < 20 {
		t.Errorf("only %d rules were seen", rules)
	}
}
