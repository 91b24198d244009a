package route

import "sluice/internal/model"

// Verdict is what became of a server or a location in nginx's choice.
type Verdict string

// The verdicts. Those with "First" name what comes first in By.
const (
	Wins         Verdict = "Wins"         // it is what nginx chooses; Outcome says what for
	DoesNotMatch Verdict = "DoesNotMatch" // a location whose path or pattern does not fit
	LongerFirst  Verdict = "LongerFirst"  // of two wildcards or two prefixes the longer counts
	EarlierFirst Verdict = "EarlierFirst" // of two patterns the first in the file counts

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
	OtherRequests   Verdict = "OtherRequests"   // it is for another method, header or parameter of the query
	// MoreSpecificFirst is for what is for the request, behind what is more specific.
	MoreSpecificFirst Verdict = "MoreSpecificFirst"
	Undecided         Verdict = "Undecided" // it wins if its pattern or condition matches, which package pcre cannot tell
)

// ServerVerdict is a server whose name the host could mean.
type ServerVerdict struct {
	Server *model.Server
	// Name is the one of its names that fits, empty for the catch-all server and
	// where none does.
	Name    string
	Verdict Verdict
	// By is what comes first, nil where the server does not lose to another.
	By *model.Server
}

// LocationVerdict is a location of the server that decides.
type LocationVerdict struct {
	Location *model.Location
	Verdict  Verdict
	// By is what comes first, nil where the location does not lose to another.
	By *model.Location
}
