package golden

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/internal/explain"
	"sluice/internal/model"
	"sluice/internal/route"
)

// TestExplanations explains every request of every case. The winner must be the
// rule that route.Match says, and the answer the one that is recorded, which nginx
// gave.
func TestExplanations(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("cases/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	explained := 0
	for _, path := range paths {
		c := readCase(t, path)
		o := workedOut(t, c)
		input := c.input(t, o)
		recorded := c.recorded(t)
		for i, r := range c.requests(t) {
			asked := o.believed(r)
			if asked.host != r.host {
				continue // what a proxy in front says of the host is for redirects only
			}
			explained++
			e := explain.Explain(input, explain.Request{Method: r.method, Scheme: asked.scheme, Host: r.host, URI: r.uri, Headers: r.known().Headers})
			if recorded[i] == "403" && o.blocks() {
				continue // it is for request_test.go: explain knows no address, and no route knows the lists
			}
			faults := append(winnerFaults(e, route.Choose(o.config.Static.Servers, r.known()).Answer), answerFaults(e, recorded[i])...)
			for _, fault := range append(faults, candidateFaults(e)...) {
				t.Errorf("%s: %s%s: %s", filepath.Base(path), r.left, e.Summary, fault)
			}
		}
	}
	if explained < 300 {
		t.Errorf("only %d requests were explained: the walk looks in the wrong place", explained)
	}
}

// input is what the requests of a case are explained by.
func (c *testCase) input(t *testing.T, o *outcome) explain.Input {
	t.Helper()
	objects := c.manifests(t).Objects
	options := c.options(t, objects)
	snap, _ := c.snapshot(t, objects)
	return explain.Input{Snapshot: snap, Options: options, Config: o.config, Problems: o.problems}
}

// recorded are the answers of a case, without the locations.
func (c *testCase) recorded(t *testing.T) []string {
	t.Helper()
	text, _ := c.section("requests")
	var answers []string
	for line := range strings.Lines(text) {
		if _, right, ok := strings.Cut(strings.TrimSpace(line), " -> "); ok && requestLine.MatchString(line) {
			answers = append(answers, right[strings.LastIndex(right, "  ")+1:])
		}
	}
	return answers
}

// winnerFaults compares the winner with the rule that route.Match says.
func winnerFaults(e *explain.Explanation, match route.Answer) []string {
	if match.Location == nil || match.Outcome == route.Unknown {
		if e.Winner != nil {
			return []string{"nothing takes it, and " + e.Winner.String() + " wins"}
		}
		return nil
	}
	rule := match.Location.Rule
	switch {
	case e.Winner == nil:
		return []string{fmt.Sprintf("route.Match says %s, %s, and nobody wins", rule.Object, rule.Field)}
	case e.Winner.Object != rule.Object || e.Winner.Field != rule.Field:
		return []string{fmt.Sprintf("route.Match says %s, %s, and %s wins", rule.Object, rule.Field, e.Winner)}
	}
	return nil
}

// answerFaults compares the answer with the recorded one.
func answerFaults(e *explain.Explanation, recorded string) []string {
	recorded = strings.TrimSpace(recorded)
	got := ""
	switch e.Answer.Kind {
	case explain.ToService:
		got = e.Answer.Service
		if r := e.Applied.Rewrite; r != nil && r.Path != "" && r.Path != e.Request.URI {
			got += " as " + r.Path
		} else if before, _, ok := strings.Cut(recorded, " as "); ok {
			recorded = before // it depends on what a pattern captures
		}
	case explain.ToRedirect:
		got = fmt.Sprintf("%d %s", e.Answer.Status, e.Answer.Location)
	case explain.ToStatus:
		got = fmt.Sprint(e.Answer.Status)
		if e.Answer.Service != "" {
			got = e.Answer.Service + " as /"
		}
	}
	recorded = strings.Replace(recorded, ":_default", "", 1)
	if got == recorded || refusable(e, recorded) || replaceable(e) || slices.Contains(e.Answer.Canaries, recorded) {
		return nil
	}
	return []string{"recorded is " + recorded}
}

// replaceable says whether an error page may have answered in place of a Service.
func replaceable(e *explain.Explanation) bool {
	return e.Answer.Kind == explain.ToService && slices.ContainsFunc(e.Applied.Behaviours, func(b explain.Behaviour) bool { return b.Name == "custom-errors" })
}

// refusable says whether a behaviour may have given the recorded status to what
// would else go to a Service.
func refusable(e *explain.Explanation, recorded string) bool {
	if strings.Contains(e.Summary, ", unless its server-snippet ") || strings.Contains(e.Summary, ", unless the server-snippet of ") {
		return true // of another Ingress of the host, perhaps
	}
	if e.Applied == nil {
		return false
	}
	has := func(is func(explain.Behaviour) bool) bool { return slices.ContainsFunc(e.Applied.Behaviours, is) }
	if strings.Contains(e.Summary, "-snippet of ConfigMap ") && strings.Contains(e.Summary, ", unless the ") {
		return true
	}
	if has(func(b explain.Behaviour) bool { return b.Snippet }) && strings.Contains(e.Summary, ", unless its ") {
		return true
	}
	if len(recorded) == 3 && recorded >= "400" && has(func(b explain.Behaviour) bool { return b.Name == "named-snippets" && b.Refuses }) {
		return true
	}
	if status, _, _ := strings.Cut(recorded, " "); status == "302" || status == "401" || status == "500" {
		if has(func(b explain.Behaviour) bool { return b.Name == "external-auth" && b.Refuses }) {
			return true
		}
	}
	switch recorded {
	case "403":
		return has(func(b explain.Behaviour) bool { return b.Refuses && b.Name != "deny-paths" })
	case "401":
		return has(func(b explain.Behaviour) bool { return b.Name == "basic-auth" })
	case "429", "503":
		return has(func(b explain.Behaviour) bool { return b.Name == "limits" })
	case "204":
		return has(func(b explain.Behaviour) bool { return b.Answers }) && e.Request.Method == "OPTIONS"
	case "413":
		return has(func(b explain.Behaviour) bool { return b.Name == "body-size" })
	case "400":
		if has(func(b explain.Behaviour) bool {
			return (b.Name == "client-check" || b.Name == "named-snippets") && b.Refuses
		}) {
			return true
		}
		return e.Applied.Rewrite != nil && strings.Contains(e.Applied.Rewrite.Target, "$")
	}
	return false
}

// candidateFaults wants a reason for each loser.
func candidateFaults(e *explain.Explanation) []string {
	var faults []string
	for _, c := range e.Losers {
		if c.Verdict == "" || c.Verdict == explain.Wins || c.Why == "" || c.Object == (model.ObjectRef{}) && c.Kind != explain.FromFallback {
			faults = append(faults, fmt.Sprintf("%s has lost without a reason: %+v", c.String(), c))
		}
	}
	return faults
}
