package dynamic

import (
	"crypto/md5"
	"encoding/hex"
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

// splitOf gives a split as nginx is told it: with the tags of the labels.
func splitOf(s *model.Split) *model.Split {
	if s == nil || len(s.Tags) == 0 {
		return s
	}
	out := *s
	out.Tags = make([]string, len(s.Tags))
	for i, label := range s.Tags {
		out.Tags[i] = tagOf(label)
	}
	return &out
}
