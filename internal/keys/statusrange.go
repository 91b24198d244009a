package keys

import (
	"fmt"
	"regexp"
	"strconv"
)

// StatusRange is a range of HTTP statuses, with both ends.
type StatusRange struct{ From, To int }

var statusRange = regexp.MustCompile(`^([1-5][0-9]{2})(?:-([1-5][0-9]{2}))?$`)

// UnmarshalText accepts a status, or two with a hyphen between, the lower one first.
func (s *StatusRange) UnmarshalText(text []byte) error {
	m := statusRange.FindSubmatch(text)
	if m == nil {
		return fmt.Errorf("%q is not a range of statuses", text)
	}
	from, _ := strconv.Atoi(string(m[1]))
	to := from
	if len(m[2]) > 0 {
		to, _ = strconv.Atoi(string(m[2]))
	}
	if to < from {
		return fmt.Errorf("%q begins with the higher status", text)
	}
	*s = StatusRange{From: from, To: to}
	return nil
}
