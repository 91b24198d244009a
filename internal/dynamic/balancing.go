package dynamic

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"sluice/internal/model"
)

// wirePicker says which picker a backend has (rootfs/etc/nginx/lua/sluice/picker) and
// what it is told, as it needs it.
type wirePicker struct {
	Picker          string `json:"picker"`
	Mode            string `json:"mode,omitempty"`
	Name            string `json:"name,omitempty"`
	Cookie          string `json:"cookie,omitempty"`
	Tag             string `json:"tag,omitempty"`
	Expires         *int   `json:"expires,omitempty"`
	MaxAge          *int   `json:"max_age,omitempty"`
	Path            string `json:"path,omitempty"`
	Domain          string `json:"domain,omitempty"`
	SameSite        string `json:"samesite,omitempty"`
	Conditional     bool   `json:"conditional,omitempty"`
	Secure          bool   `json:"secure,omitempty"`
	ChangeOnFailure bool   `json:"change_on_failure,omitempty"`
}

type wireSplit struct {
	Main   string      `json:"main"`
	Total  int         `json:"total"`
	Cookie string      `json:"cookie,omitempty"`
	Tags   []string    `json:"tags,omitempty"`
	Shares []wireShare `json:"shares"`
}

type wireShare struct {
	Backend string          `json:"backend"`
	Name    string          `json:"name"`
	Weight  int             `json:"weight"`
	Always  []wireCondition `json:"always"`
	Never   []wireCondition `json:"never"`
}

// wireCondition is the array [variable, value].
type wireCondition model.ValueIs

func (c wireCondition) MarshalJSON() ([]byte, error) {
	return json.Marshal([]string{c.Variable, c.Value})
}

// pickerOf gives nil for a backend whose endpoints are picked in turn.
func pickerOf(b *model.Backend) *wirePicker {
	if b.Balancing == nil || b.Balancing.Cookie == nil {
		return nil
	}
	c, name := b.Balancing.Cookie, b.Target.Label()
	p := &wirePicker{Picker: "cookie", Mode: "balanced", Name: name, Cookie: c.Name, Tag: tagOf(name), Path: c.Path, Domain: c.Domain,
		SameSite: c.SameSite, Conditional: c.Conditional, Secure: c.Secure, ChangeOnFailure: c.ChangeOnFailure}
	if c.Persistent {
		p.Mode = "persistent"
	}
	p.Expires, p.MaxAge = seconds(c.Expires), seconds(c.MaxAge)
	return p
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

func splitOf(s *model.Split) *wireSplit {
	if s == nil {
		return nil
	}
	out := &wireSplit{Main: s.Main, Total: s.Total, Cookie: s.Cookie, Shares: make([]wireShare, 0, len(s.Shares))}
	for _, name := range s.Tags {
		out.Tags = append(out.Tags, tagOf(name))
	}
	for _, share := range s.Shares {
		out.Shares = append(out.Shares, wireShare{share.Backend, share.Name, share.Weight, conditions(share.Always), conditions(share.Never)})
	}
	return out
}

func conditions(list []model.ValueIs) []wireCondition {
	out := make([]wireCondition, 0, len(list))
	for _, c := range list {
		out = append(out, wireCondition(c))
	}
	return out
}
