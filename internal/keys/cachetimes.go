package keys

import (
	"regexp"
	"strconv"
	"strings"

	"sluice/internal/model"
)

// CacheTimes are the times for which answers may be kept, by their status.
type CacheTimes []CacheTime

// CacheTime is the time for answers with one of the Codes; without Codes it is for 200, 301
// and 302, as with nginx.
type CacheTime struct {
	Codes []int  `json:"codes,omitempty"`
	Time  string `json:"time"`
}

// mostCacheTimes is the maximum number of items.
const mostCacheTimes = 20

// cacheTime matches a time of nginx in seconds or more, at most 999 years.
var cacheTime = regexp.MustCompile(`^[0-9]{1,3}[smhdwMy]$`)

// UnmarshalText accepts items separated by commas: statuses, and then a time.
func (c *CacheTimes) UnmarshalText(text []byte) error {
	var times CacheTimes
	for _, item := range Items(string(text)) {
		words := strings.Fields(item)
		last := len(words) - 1
		if !cacheTime.MatchString(words[last]) {
			return &specific{model.Quoted(words[last]) + " is no time"}
		}
		t := CacheTime{Time: words[last]}
		for _, word := range words[:last] {
			code, err := strconv.Atoi(word)
			if err != nil || len(word) != 3 || code < 100 || code > 599 {
				return &specific{model.Quoted(word) + " is no status"}
			}
			t.Codes = append(t.Codes, code)
		}
		times = append(times, t)
	}
	if len(times) == 0 {
		return errNoItem
	}
	if len(times) > mostCacheTimes {
		return &specific{"it has more than " + strconv.Itoa(mostCacheTimes) + " items"}
	}
	*c = times
	return nil
}
