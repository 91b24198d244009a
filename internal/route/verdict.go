package route

import "sluice/internal/model"

// Verdict is the result of nginx's choice for one server or location.
type Verdict string

// The verdicts. Those with "First" name the winner in By.
const (
	Wins         Verdict = "Wins"         // nginx chooses it; Outcome is the result
	DoesNotMatch Verdict = "DoesNotMatch" // the path or pattern of the location does not match
	LongerFirst  Verdict = "LongerFirst"  // of two wildcards or two prefixes the longer one wins
	EarlierFirst Verdict = "EarlierFirst" // of two patterns the first in the file wins

	// Servers only.
	PreciseFirst  Verdict = "PreciseFirst"  // a precise name comes before all others
	WildcardFirst Verdict = "WildcardFirst" // a wildcard comes before a name that is a pattern
	NameFirst     Verdict = "NameFirst"     // the catch-all server is for names that no other takes
	OneLabel      Verdict = "OneLabel"      // "*" stands for exactly one label

	// Locations only.
	ExactFirst      Verdict = "ExactFirst"      // "=" with just this path
	SlashFirst      Verdict = "SlashFirst"      // nginx redirects to the path with a "/" at its end
	PrefixOnlyFirst Verdict = "PrefixOnlyFirst" // "^~" keeps patterns from being tried
	PatternFirst    Verdict = "PatternFirst"    // a pattern comes before a plain prefix
	OtherRequests   Verdict = "OtherRequests"   // it is for another method, header or query parameter
	// MoreSpecificFirst: it matches the request, but a more specific candidate wins.
	MoreSpecificFirst Verdict = "MoreSpecificFirst"
	Undecided         Verdict = "Undecided" // it wins if its pattern or condition matches, which package pcre cannot evaluate
)

// ServerVerdict is the verdict on a server whose names come close to the host.
type ServerVerdict struct {
	Server *model.Server
	// Name is the matching name, empty for the catch-all server or if none matches.
	Name    string
	Verdict Verdict
	// By is the winner, nil if the server does not lose to another.
	By *model.Server
}

// LocationVerdict is the verdict on a location of the chosen server.
type LocationVerdict struct {
	Location *model.Location
	Verdict  Verdict
	// By is the winner, nil if the location does not lose to another.
	By *model.Location
}
