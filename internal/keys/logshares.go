package keys

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// LogShare is the share of the requests with a status that is in the access log.
type LogShare struct {
	// Status is a status such as "404", or a class such as "2xx".
	Status string
	// Share is a percentage such as "0.5".
	Share string
}

// LogShares have each status and each class at most once, in the order of their text.
type LogShares []LogShare

// maxLogShares is more than anyone tells apart.
const maxLogShares = 16

// UnmarshalText accepts items such as "2xx=1%", separated by spaces or commas. There are few
// percentages, because nginx has a variable for each in each request.
func (s *LogShares) UnmarshalText(text []byte) error {
	isShare := pattern(RulePattern("log_share"))
	var list LogShares
	for _, item := range Items(strings.Join(strings.Fields(string(text)), ",")) {
		status, share, _ := strings.Cut(item, "=")
		switch {
		case !isShare().MatchString(item):
			return errors.New("want a status or a class, and a percentage among 0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50 or 100, such as 404=50% or 2xx=0.5%")
		case slices.ContainsFunc(list, func(other LogShare) bool { return other.Status == status }):
			return fmt.Errorf("%s is there twice", status)
		case len(list) == maxLogShares:
			return fmt.Errorf("more than %d items", maxLogShares)
		}
		list = append(list, LogShare{status, strings.TrimSuffix(share, "%")})
	}
	*s = list
	return nil
}

// Pattern returns the regular expression for the status, with its ~.
func (s LogShare) Pattern() string { return "~^" + strings.ReplaceAll(s.Status, "xx", "") }

// IsPart reports whether some of the requests are in the log, and some are not.
func (s LogShare) IsPart() bool { return s.Share != "0" && s.Share != "100" }

// All reports whether all of the requests are in the log.
func (s LogShare) All() bool { return s.Share == "100" }

// Name is the share as a part of the name of a variable.
func (s LogShare) Name() string { return strings.ReplaceAll(s.Share, ".", "_") }

// Parts returns the different shares of which some requests are in the log.
func (s LogShares) Parts() []LogShare {
	var parts []LogShare
	for _, share := range s {
		if share.IsPart() && !slices.ContainsFunc(parts, func(other LogShare) bool { return other.Share == share.Share }) {
			parts = append(parts, share)
		}
	}
	return parts
}

// ByStatus returns the shares of statuses before those of classes.
func (s LogShares) ByStatus() LogShares {
	sorted := slices.Clone(s)
	slices.SortStableFunc(sorted, func(a, b LogShare) int {
		return strings.Count(a.Status, "x") - strings.Count(b.Status, "x")
	})
	return sorted
}
