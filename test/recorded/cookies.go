package recorded

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// keepCookies adds the cookies of an answer to a session, if there is one.
func (w *World) keepCookies(session string, e exchange) {
	if session == "" || e.response == nil {
		return
	}
	if w.jars[session] == nil {
		w.jars[session] = map[string]string{}
	}
	for _, cookie := range e.response.Cookies() {
		w.jars[session][cookie.Name] = cookie.Name + "=" + cookie.Value
	}
}

var (
	// hashed is the value of a cookie that names an endpoint.
	hashed = regexp.MustCompile(`^[0-9a-f.|]{20,}$`)
	// hashedIn is such a value within a text.
	hashedIn = regexp.MustCompile(`[0-9]{10}\.[0-9.]+\|[0-9a-f]{32}|[0-9a-f]{32}`)
)

// normalCookie gives a Set-Cookie the form of the records: its attributes sorted,
// a value that names an endpoint replaced, the time of Expires relative to the Date.
func normalCookie(cookie, date string) string {
	parts := strings.Split(cookie, ";")
	if name, value, ok := strings.Cut(parts[0], "="); ok && hashed.MatchString(value) {
		parts[0] = name + "=<hash>"
	}
	for i, part := range parts[1:] {
		part = strings.TrimSpace(part)
		if name, value, ok := strings.Cut(part, "="); ok && strings.EqualFold(name, "expires") {
			part = name + "=" + sinceDate(value, date)
		}
		parts[i+1] = part
	}
	slices.Sort(parts[1:])
	return strings.Join(parts, "; ")
}

// sinceDate gives the seconds between two times of headers, in tens.
func sinceDate(expires, date string) string {
	until, err := http.ParseTime(expires)
	if err != nil {
		until, err = time.Parse("Mon, 02-Jan-06 15:04:05 MST", expires)
	}
	now, errDate := http.ParseTime(date)
	if err != nil || errDate != nil {
		return "<date>"
	}
	return fmt.Sprintf("<+%ds>", int(until.Sub(now).Round(10*time.Second).Seconds()))
}
