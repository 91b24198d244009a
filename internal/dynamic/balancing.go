package dynamic

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strconv"

	"sluice/internal/model"
)

// wirePicker is the picker of a backend (rootfs/etc/nginx/lua/sluice/picker), the name
// with which it hashes endpoints, and the mark of its cookies.
type wirePicker struct {
	Picker string         `json:"picker"`
	Mode   model.Affinity `json:"mode"`
	Name   string         `json:"name"`
	Tag    string         `json:"tag"`
	Points int            `json:"points,omitempty"`
}

// wireSplit is a split for rootfs/etc/nginx/lua/sluice/split.lua.
type wireSplit struct {
	Main   string        `json:"main"`
	Total  int           `json:"total"`
	Shares []model.Share `json:"shares"`
	Cookie *wireCookie   `json:"cookie,omitempty"`
	Tags   []string      `json:"tags,omitempty"`
}

// wireCookie is a cookie in the form in which Lua sends it to clients.
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

// pickerOf returns the picker of a backend, nil for one that picks endpoints in turn. It
// is an error if no picker balances in the wanted way.
func pickerOf(b *model.Backend) (*wirePicker, error) {
	switch wanted := b.Balancing; {
	case wanted == nil:
		return nil, nil
	case wanted.Affinity == model.Balanced, wanted.Affinity == model.Persistent:
		name := b.Target.Label()
		return &wirePicker{Picker: "cookie", Mode: wanted.Affinity, Name: name, Tag: tagOf(name), Points: b.RingPoints}, nil
	}
	return nil, fmt.Errorf("backend %s: no picker for the balancing %+v", b.Key, *b.Balancing)
}

func cookieOf(c *model.Cookie) *wireCookie {
	if c == nil {
		return nil
	}
	return &wireCookie{Name: c.Name, Expires: seconds(c.Expires), MaxAge: seconds(c.MaxAge), Path: c.Path, Domain: c.Domain,
		SameSite: c.SameSite, Conditional: c.Conditional, Secure: c.Secure, ChangeOnFailure: c.ChangeOnFailure}
}

// seconds returns nil for an attribute that is not set.
func seconds(text string) *int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil
	}
	return &n
}

// tagOf marks the cookies of a backend. It is that of ingress-nginx, so that clients
// stay at their backend when Sluice replaces it.
func tagOf(name string) string { return md5Hex(md5Hex(name) + name) }

func md5Hex(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// splitOf returns a split with the tags of its labels, nil for nil.
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
