package explain

import (
	"fmt"
	"slices"

	"sluice/internal/model"
	"sluice/internal/route"
)

// summary returns the answer in one sentence.
func summary(e *Explanation) string {
	by := ""
	if e.Winner != nil {
		by = " by " + e.Winner.String()
	}
	asked := model.OneLine(e.Request.String(), mostAsked)
	a := e.Answer
	switch a.Kind {
	case ToService:
		return fmt.Sprintf("%s goes to Service %s%s%s", asked, a.Service, orCanaries(a)+asCanary(a), by)
	case ToRedirect:
		return fmt.Sprintf("%s is redirected with %d to %s%s", asked, a.Status, model.OneLine(a.Location, mostAsked), by)
	case NoHandshake:
		return fmt.Sprintf("%s is refused in the TLS handshake: %s", asked, a.Why)
	case PassedOn:
		return fmt.Sprintf("%s goes to Service %s, and nginx does not look at it: %s", asked, a.Service, a.Why)
	case ToUnknown:
		return fmt.Sprintf("%s: only nginx can tell where it goes: %s", asked, a.Why)
	}
	return fmt.Sprintf("%s is answered %d%s: %s", asked, a.Status, by, a.Why)
}

// orCanaries names the canaries of an answer, "" for none.
func orCanaries(a Answer) string {
	if len(a.Canaries) == 0 {
		return ""
	}
	return " or its canary " + model.OneOf(a.Canaries)
}

// asCanary gives the reason why a canary answers, "" for none.
func asCanary(a Answer) string {
	if a.Why == "" {
		return ""
	}
	return ", a canary, because " + a.Why + ","
}

// outcome returns the answer in a few words.
func outcome(a Answer) string {
	switch a.Kind {
	case ToService:
		return "Service " + a.Service + orCanaries(a)
	case PassedOn:
		return "Service " + a.Service + ", passed through: " + a.Why
	case ToRedirect:
		return fmt.Sprintf("%d: %s", a.Status, model.OneLine(a.Location, mostAsked))
	case NoHandshake:
		return "no handshake: " + a.Why
	case ToUnknown:
		return "unknown: " + a.Why
	}
	return fmt.Sprintf("%d: %s", a.Status, a.Why)
}

// serverSnippetName is the behaviour with directives for the whole server.
const serverSnippetName = "server-snippet"

// clientCheckName is the behaviour that checks the certificates of clients at a path.
const clientCheckName = "client-check"

// unless returns the reasons why the answer may be another one: snippets, lists
// of addresses, and CORS for preflight requests.
func (x *explainer) unless(e *Explanation) []string {
	if e.Answer.Kind == ToUnknown {
		return nil
	}
	reasons := slices.Concat(x.clientCertificate(e), x.serverSnippet(e), x.globalSnippets(e))
	if e.Applied == nil {
		return reasons
	}
	if len(x.settings.BlockLists.Addresses) > 0 && x.passedThrough() == nil {
		reasons = append(reasons, "the setting block-cidrs has the client's address")
	}
	for _, b := range e.Applied.Behaviours {
		switch {
		case b.Name == serverSnippetName:
		case b.Snippet:
			reasons = append(reasons, "its "+b.Name+" says something else")
		case b.Refuses && e.Answer.Kind == ToService:
			reasons = append(reasons, b.Name+" refuses it")
		case b.Answers && e.Request.Method == "OPTIONS":
			reasons = append(reasons, b.Name+" answers it")
		}
	}
	return reasons
}

// clientCertificate returns the reason that another Ingress asks for certificates of the clients
// of the host, nil for none. nginx refuses a connection before it looks for a location.
func (x *explainer) clientCertificate(e *Explanation) []string {
	ownCheck := func(b Behaviour) bool { return b.Name == clientCheckName && b.Refuses }
	if x.choice.Outcome == route.Missed || x.request.Scheme != "https" || x.choice.Server.TLS == nil {
		return nil
	}
	trust := x.choice.Server.TLS.Clients
	told := e.Applied != nil && slices.ContainsFunc(e.Applied.Behaviours, ownCheck)
	if trust == nil || told || trust.Verify != "on" && trust.Verify != "optional" || x.passedThrough() != nil {
		return nil
	}
	if trust.Verify == "optional" {
		return []string{"the client has a certificate that the auth-tls-secret of " + trust.Source.String() + " does not accept"}
	}
	return []string{"the client has no certificate that the auth-tls-secret of " + trust.Source.String() + " accepts"}
}

// serverSnippet returns the reason that the server has a snippet, nil for none. nginx carries
// it out before it looks for a location, whatever Ingress of the host has it.
func (x *explainer) serverSnippet(e *Explanation) []string {
	if x.choice.Outcome == route.Missed || x.serverRedirect() != nil && x.request.Scheme == "http" {
		return nil // the server answers before
	}
	for _, block := range x.choice.Server.Blocks {
		switch {
		case block.Name != serverSnippetName:
		case e.Winner != nil && e.Winner.Object == block.Source:
			return []string{"its " + serverSnippetName + " says something else"}
		default:
			return []string{"the " + serverSnippetName + " of " + block.Source.String() + " says something else"}
		}
	}
	return nil
}

// globalSnippets returns the reasons that the settings have snippets for all servers or
// locations. One for the http level may have a server of its own.
func (x *explainer) globalSnippets(e *Explanation) []string {
	if x.choice.Outcome == route.Missed {
		return nil
	}
	var reasons []string
	for _, key := range []string{"http-snippet", serverSnippetName, "location-snippet"} {
		if from, given := x.settings.Origin(key); given && (key != "location-snippet" || e.Winner != nil) {
			if text, _ := x.settings.Value(key); text != "" {
				reasons = append(reasons, "the "+key+" of "+from.String()+" says something else")
			}
		}
	}
	return reasons
}

// otherwise adds the reasons why an answer may be another one to a sentence about it.
func (a Answer) otherwise(text string) string {
	for _, reason := range a.Unless {
		text += ", unless " + reason
	}
	return text
}

// mostAsked limits the shown length of a URL.
const mostAsked = 300
