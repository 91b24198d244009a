package golden

import (
	"testing"
)

func TestParseRequests(t *testing.T) {
	t.Parallel()
	list, err := parseRequests("GET https://a.example/x?y {Origin: https://b; X-Y: 1} -> ^~ /  ns/s:80\n  Vary: Origin\nGET /x -> 404\n")
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	first := list[0]
	if first.scheme != "https" || first.host != "a.example" || first.uri != "/x?y" || first.header.Get("X-Y") != "1" || first.header.Get("Origin") != "https://b" || first.wanted[0] != "Vary" {
		t.Errorf("got %+v", first)
	}
	if list[1].host != "" || list[1].scheme != "http" {
		t.Errorf("got %+v", list[1])
	}
	if _, err := parseRequests("fetch it -> 404\n"); err == nil {
		t.Error("a line that is no request was taken")
	}
}

func TestDisagreementsAreSeen(t *testing.T) {
	t.Parallel()
	base := answer{location: "^~ /", service: "ns/a:80"}
	for what, seen := range map[string]answer{
		"another location": {location: "/", service: "ns/a:80", status: 200},
		"another service":  {location: "^~ /", service: "ns/b:80", status: 200},
		"a status":         {location: "^~ /", status: 502},
		"a refusal":        {location: "^~ /", status: 403},
		"a redirect":       {location: "^~ /", status: 308, redirect: "https://x"},
	} {
		if disagrees(base, seen) == "" {
			t.Errorf("%s was not seen", what)
		}
	}
	base.refusable = true
	if text := disagrees(base, answer{location: "^~ /", status: 403}); text != "" {
		t.Errorf("an allow list may refuse: %s", text)
	}
	over := answer{location: "^~ /", status: 429}
	if disagrees(base, over) == "" {
		t.Error("a limit that is not there was not missed")
	}
	base.limited = true
	if text := disagrees(base, over); text != "" {
		t.Errorf("a limit may refuse: %s", text)
	}
}
