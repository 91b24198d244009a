package dynamic

import (
	"crypto/md5"
	"encoding/hex"
	"strconv"

	"sluice/internal/model"
)

// wirePicker says which picker a backend has (rootfs/etc/nginx/lua/sluice/picker), by
// which name it hashes endpoints, and how it marks its cookies.
type wirePicker struct {
	Picker string         `json:"picker"`
	Mode   model.Affinity `json:"mode"`
	Name   string         `json:"name"`
	Tag    string         `json:"tag"`
	Points int            `json:"points,omitempty"`
}

// wireSplit is what rootfs/etc/nginx/lua/sluice/split.lua is told.
type wireSplit struct {
	Main   string        `json:"main"`
	Total  int           `json:"total"`
	Shares []model.Share `json:"shares"`
	Cookie *wireCookie   `json:"cookie,omitempty"`
	Tags   []string      `json:"tags,omitempty"`
}

// wireCookie is a cookie as the picker sends it to clients.
type wireCookie struct {
	Name            string `json:"name"`
	Expires         *int   `json:"expires,omitempty"`
	MaxAge          *int   `json:"max_age,omitempty"`
	Path            string `json:"path"`
	Domain          string `json:"domain,omitempty"`
	SameSite        string `json:"samesite,omitempty"`
	Conditional     bool   `json:"conditional,omitempty"`
	Secure          bool   `json:"secure,omitempty"`
	ChangeOnFailure bool   `json:"change_on_failure,omitempty"`
}

// pickerOf gives nil for a backend whose endpoints are picked in turn.
func pickerOf(b *model.Backend) *wirePicker {
	if b.Balancing == nil {
		return nil
	}
	name := b.Target.Label()
	return &wirePicker{Picker: "cookie", Mode: b.Balancing.Affinity, Name: name, Tag: tagOf(name), Points: b.RingPoints}
}

func cookieOf(c *model.Cookie) *wireCookie {
	if c == nil {
		return nil
	}
	return &wireCookie{Name: c.Name, Expires: seconds(c.Expires), MaxAge: seconds(c.MaxAge), Path: c.Path, Domain: c.Domain,
		SameSite: c.SameSite, Conditional: c.Conditional, Secure: c.Secure, ChangeOnFailure: c.ChangeOnFailure}
}

// seconds gives nil where nothing is to be said.
func seconds(text string) *int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil
	}
	return &n
}

// tagOf marks the cookies of a backend. It is ingress-nginx's, so that clients stay
// with their backend when Sluice takes its place.
func tagOf(name string) string { return md5Hex(md5Hex(name) + name) }

func md5Hex(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// splitOf gives a split with the tags of its labels, nil for nil.
func splitOf(s *model.Split) *wireSplit {
	if s == nil {
		return nil
	}
	out := &wireSplit{Main: s.Main, Total: s.Total, Shares: append([]model.Share{}, s.Shares...), Cookie: cookieOf(s.Cookie)}
	for _, label := range s.Tags {
		out.Tags = append(out.Tags, tagOf(label))
	}
	return out
}
