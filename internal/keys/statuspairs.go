package keys

import (
	"slices"
	"strings"
)

// StatusPair gives a status as another one.
type StatusPair struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// StatusPairs give each status once.
type StatusPairs []StatusPair

// UnmarshalText accepts lines such as "495 496 = 401". No error becomes a success.
func (s *StatusPairs) UnmarshalText(text []byte) error {
	isError := pattern(RulePattern("error_status"))
	var list StatusPairs
	err := readLines(text, func(line string) error {
		from, to, _ := strings.Cut(line, "=")
		to = strings.TrimSpace(to)
		codes := strings.Fields(from)
		if len(codes) == 0 || !isError().MatchString(to) {
			return wrongLine(line, `want "STATUS = STATUS" with statuses from 400 to 599 except 499`)
		}
		for _, code := range codes {
			switch {
			case !isError().MatchString(code):
				return wrongLine(line, `want "STATUS = STATUS" with statuses from 400 to 599 except 499`)
			case slices.ContainsFunc(list, func(other StatusPair) bool { return other.From == code }):
				return wrongLine(line, "want each status once before a =")
			}
			list = append(list, StatusPair{code, to})
		}
		return nil
	})
	*s = list
	return err
}
