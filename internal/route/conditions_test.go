package route

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/model"
)

func matchOf(of, name, value string, pattern bool) model.Match {
	v := []model.ValueMatch{{Name: name, Value: value, Pattern: pattern}}
	switch of {
	case "header":
		return model.Match{Headers: v}
	case "query":
		return model.Match{Query: v}
	}
	return model.Match{Method: value}
}

// A condition holds for just the requests that its match means.
func TestConditionsHold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		match      model.Match
		yes, other Request
	}{
		{matchOf("method", "", "PUT", false), Request{Method: "PUT"}, Request{Method: "PUTT"}},
		{matchOf("method", "", "GET", false), Request{}, Request{Method: "HEAD"}},
		{matchOf("header", "X-A", "v.1", false), Request{Headers: []Header{{"x-a", "v.1"}}}, Request{Headers: []Header{{"x-a", "v11"}}}},
		{matchOf("header", "X-A", "a, b", false), Request{Headers: []Header{{"x-a", "a"}, {"X-A", "b"}}}, Request{Headers: []Header{{"x-a", "a"}}}},
		{matchOf("header", "Host", "a.example", false), Request{Host: "a.example"}, Request{Host: "b.example"}},
		{matchOf("header", "X-A", "[0-9]*", true), Request{Headers: []Header{{"x-a", "1"}}}, Request{}},
		{matchOf("header", "X-A", "(?i)ab|c", true), Request{Headers: []Header{{"x-a", "AB"}}}, Request{Headers: []Header{{"x-a", "abc"}}}},
		{matchOf("query", "a", "1", false), Request{URI: "/?b&a=1&a=2"}, Request{URI: "/?a=2&a=1"}},
		{matchOf("query", "a", "1", false), Request{URI: "/?a=1#x"}, Request{URI: "/?A=1"}},
		{matchOf("query", "a", ".*", true), Request{URI: "/?a=x"}, Request{URI: "/?a="}},
		{matchOf("query", "a+b", "x&y =é", false), Request{URI: "/?a%2Bb=x%26y+%3d%C3%a9"}, Request{URI: "/?a+b=x%26y+%3d%C3%a9"}},
		{matchOf("query", "a", "%41", false), Request{URI: "/?a=%2541"}, Request{URI: "/?a=%41"}},
	} {
		conditions, fault := Conditions(test.match)
		if fault != nil {
			t.Fatalf("%v: %+v", test.match, fault)
		}
		yes, told := test.yes.holds(conditions)
		no, alsoTold := test.other.holds(conditions)
		if !yes || no || !told || !alsoTold {
			t.Errorf("%v: got %v for %+v and %v for %+v", test.match, yes, test.yes, no, test.other)
		}
	}
}

// What nginx could not check, or would read as something else, is refused.
func TestConditionsRefuse(t *testing.T) {
	t.Parallel()
	for want, match := range map[string]model.Match{
		"method":               matchOf("method", "", "get", false),
		"headers[0].name":      matchOf("header", "X_A", "v", false),
		"headers[0].value":     matchOf("header", "X-A", "", false),
		"queryParams[0].name":  matchOf("query", "", "v", false),
		"queryParams[0].value": matchOf("query", "a", strings.Repeat("x", mostValue+1), false),
	} {
		if _, fault := Conditions(match); fault == nil || fault.Field != want {
			t.Errorf("%s: got %+v", want, fault)
		}
	}
	for _, pattern := range []string{"(", "a)|(b", "(?x)a #", `\Qa`, "(?#", "(*ACCEPT)", "(?<n>a)", "[[:x:]]"} {
		if _, fault := Conditions(matchOf("header", "X-A", pattern, true)); fault == nil {
			t.Errorf("the pattern %s is taken", pattern)
		}
	}
}

// The first candidate whose conditions hold has the request.
func TestDispatch(t *testing.T) {
	t.Parallel()
	s := server("", &model.Location{Modifier: model.PrefixFirst, Path: "/"})
	for i, value := range []string{"1", "2", ""} {
		candidate := model.Candidate{To: fmt.Sprint("to-", i)}
		if value != "" {
			candidate.Conditions, _ = Conditions(matchOf("query", "a", value, false))
		}
		s.Locations[0].Dispatch = append(s.Locations[0].Dispatch, candidate)
		s.Internal = append(s.Internal, &model.Internal{Location: proxied(model.Named, candidate.To)})
	}
	for uri, want := range map[string]string{"/?a=1": "Wins MoreSpecificFirst MoreSpecificFirst", "/?a=2": "OtherRequests Wins MoreSpecificFirst", "/": "OtherRequests OtherRequests Wins"} {
		c := Choose([]*model.Server{s}, Request{Host: "h", URI: uri})
		var got []string
		for _, v := range c.Locations[1:] {
			got = append(got, string(v.Verdict))
			if v.Verdict == Wins && v.Location != c.Location {
				t.Errorf("%s: the location is %v", uri, c.Location)
			}
		}
		if text := strings.Join(got, " "); text != want || c.Outcome != Served || c.Dispatched != s.Locations[0] {
			t.Errorf("%s: got %s, want %s", uri, text, want)
		}
	}
}
