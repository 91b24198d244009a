package keys

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValues(t *testing.T) {
	t.Parallel()
	type tagged struct {
		Plain string `key:"plain" default:"p"`
		Alias int    `key:"new" alias:"old,older" default:"1"`
		From  string `key:"from" from:"setting" default:"d"`
		Lost  string `key:"lost" from:"gone" default:"d"`
		Zero  bool   `key:"zero" default:"true" empty:"zero"`
		Group struct {
			Unset int `key:"unset" default:"5"`
		}
	}
	written := map[string]string{"new": " ", "old": " 2 ", "older": "3", "zero": "", "unset": " "}
	settings := map[string]string{"setting": " s "}
	lookup := func(key string) (string, bool) { v, ok := written[key]; return v, ok }
	defaults := func(key string) (string, bool) { v, ok := settings[key]; return v, ok }
	type row struct{ Key, Text, Name string }
	var got []row
	texts := map[string]string{}
	for _, v := range Values(tagged{}, lookup, defaults) {
		got = append(got, row{v.Key, v.Text, v.Name})
		texts[v.Key] = v.Text
	}
	want := []row{{"plain", "p", ""}, {"new", "2", "old"}, {"from", "s", ""}, {"lost", "d", ""}, {"zero", "", "zero"}, {"unset", "5", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What is said to hold is what Decode takes.
	var direct, again tagged
	faults := append(Decode(&direct, lookup, defaults), Decode(&again, func(key string) (string, bool) { v, ok := texts[key]; return v, ok }, nil)...)
	if diff := cmp.Diff(direct, again); diff != "" || len(faults) > 0 {
		t.Errorf("faults %v, (-decoded +from the texts):\n%s", faults, diff)
	}
}

// The valid items of a list hold without the others.
func TestValuesOfAListThatIsPartlyValid(t *testing.T) {
	t.Parallel()
	var tagged struct {
		From Origins `key:"from" default:"*"`
	}
	for written, want := range map[string]string{"https://a.example, b": "https://a.example", "b": ""} {
		lookup := func(string) (string, bool) { return written, true }
		got := Values(&tagged, lookup, nil, Decode(&tagged, lookup, nil)...)
		if len(got) != 1 || got[0].Text != want || got[0].Name != "from" {
			t.Errorf("%s: %+v, want %q", written, got, want)
		}
	}
}
