package dynamic

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strconv"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// wirePicker is the picker of a backend (rootfs/etc/nginx/lua/sluice/picker), the name
// with which it hashes endpoints, and the mark of its cookies.
type wirePicker struct {
	Picker string         `json:"picker"`
	Mode   model.Affinity `json:"mode,omitempty"`
	Name   string         `json:"name,omitempty"`
	Tag    string         `json:"tag,omitempty"`
	By     []string       `json:"by,omitempty"`
	Subset int            `json:"subset,omitempty"`
	Points int            `json:"points,omitempty"`

	MaxFails    int `json:"max_fails,omitempty"`
	FailTimeout int `json:"fail_timeout,omitempty"`
	SlowStart   int `json:"slow_start,omitempty"`
}

// wireSplit is a split for rootfs/etc/nginx/lua/sluice/split.lua.
type wireSplit struct {
	Main   string      `json:"main"`
	Total  int         `json:"total"`
	Shares []wireShare `json:"shares"`
	Cookie *wireCookie `json:"cookie,omitempty"`
	Tags   []string    `json:"tags,omitempty"`
}

type wireShare struct {
	Backend string     `json:"backend"`
	Name    string     `json:"name"`
	Weight  int        `json:"weight"`
	Rules   []wireRule `json:"rules,omitempty"`
}

// wireRule has either a value or a pattern with its limits.
type wireRule struct {
	Variable string `json:"variable"`
	Value    string `json:"value"`
	Pattern  string `json:"pattern,omitempty"`
	Takes    bool   `json:"takes"`
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
	if b.Balancing == nil {
		return nil, nil
	}
	wanted := *b.Balancing
	wanted.ServiceAddress, wanted.Check = false, nil // these only change the endpoints
	if wanted == (model.Balancing{}) && wanted != *b.Balancing {
		return nil, nil
	}
	picker, err := pickerBy(b, &wanted)
	if err != nil {
		return nil, err
	}
	if e := wanted.Ejection; e != nil {
		picker.MaxFails, picker.FailTimeout = e.MaxFails, e.Timeout
	}
	picker.SlowStart = wanted.SlowStart
	return picker, nil
}

// pickerBy returns the picker without ejection and slow start.
func pickerBy(b *model.Backend, wanted *model.Balancing) (*wirePicker, error) {
	switch hash := wanted.Hash; {
	case wanted.Affinity == model.Balanced, wanted.Affinity == model.Persistent:
		name := b.Target.Label()
		return &wirePicker{Picker: "cookie", Mode: wanted.Affinity, Name: name, Tag: tagOf(name), Points: b.RingPoints}, nil
	case wanted.Affinity != "":
	case hash != nil:
		return &wirePicker{Picker: "hash", By: hash.By, Subset: hash.Subset, Points: b.RingPoints}, nil
	case wanted.Algorithm == model.EWMA, wanted.Algorithm == model.LeastConn:
		return &wirePicker{Picker: string(wanted.Algorithm)}, nil
	case wanted.Algorithm == "" && (wanted.Ejection != nil || wanted.SlowStart > 0):
		return &wirePicker{Picker: "round_robin"}, nil
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
	out := &wireSplit{Main: s.Main, Total: s.Total, Shares: make([]wireShare, 0, len(s.Shares)), Cookie: cookieOf(s.Cookie)}
	for _, share := range s.Shares {
		out.Shares = append(out.Shares, wireShare{share.Backend, share.Name, share.Weight, rulesOf(share.Rules)})
	}
	for _, label := range s.Tags {
		tag := ""
		if label != "" {
			tag = tagOf(label)
		}
		out.Tags = append(out.Tags, tag)
	}
	return out
}

func rulesOf(rules []model.ShareRule) []wireRule {
	var out []wireRule
	for _, r := range rules {
		rule := wireRule{Variable: r.Variable, Value: r.Value, Takes: r.Takes}
		if r.Pattern != "" {
			before, after := pcre.Limit(r.Pattern, r.Limit)
			rule.Pattern = before + r.Pattern + after
		}
		out = append(out, rule)
	}
	return out
}
