package model

import "testing"

func TestTakes(t *testing.T) {
	t.Parallel()
	precise := Passthrough{Host: "a.example", Aliases: []string{"b.example"}}
	wildcard := Passthrough{Host: "*.example", Except: []string{"ours.example"}}
	for _, test := range []struct {
		passed Passthrough
		name   string
		want   bool
	}{
		{precise, "a.example", true}, {precise, "b.example", true}, {precise, "c.example", false}, {precise, "", false}, {precise, "x.a.example", false},
		{wildcard, "a.example", true}, {wildcard, "ours.example", false}, {wildcard, "a.b.example", false}, {wildcard, "example", false}, {wildcard, ".example", false},
	} {
		if got := test.passed.Takes(test.name); got != test.want {
			t.Errorf("%s takes %q: %t, want %t", test.passed.Host, test.name, got, test.want)
		}
	}
}
