package diff

import (
	"reflect"
	"slices"
	"strings"

	"sluice/internal/model"
)

// passed is a TCP or UDP service, or a host whose TLS is passed through.
type passed struct {
	key   string
	end   End
	rest  any // all of it, without the endpoints
	proxy string
}

// streams compares everything that nginx passes on unread.
func (c *comparison) streams() []Route {
	var all []Route
	before, after := passedOf(c.before.Config.Static), passedOf(c.after.Config.Static)
	find := func(list []passed, key string) *passed {
		if at := slices.IndexFunc(list, func(p passed) bool { return p.key == key }); at >= 0 {
			return &list[at]
		}
		return nil
	}
	for _, now := range after {
		old := find(before, now.key)
		r := Route{Change: Gained, Host: now.key, New: &now.end}
		if old != nil {
			if reflect.DeepEqual(old.rest, now.rest) {
				continue
			}
			r.Change, r.Old = Changed, &old.end
			r.Effects = streamEffects(old, &now)
			if old.end.Backend != now.end.Backend {
				r.Change = Moved
			}
		}
		all = append(all, r)
	}
	for _, old := range before {
		if find(after, old.key) == nil {
			all = append(all, Route{Change: Lost, Host: old.key, Old: &old.end})
		}
	}
	return all
}

func streamEffects(old, now *passed) []Effect {
	var effects []Effect
	if old.end.Object != now.end.Object {
		effects = append(effects, Effect{Behaviour: "object", Old: old.end.Object.String(), New: now.end.Object.String()})
	}
	if old.proxy != now.proxy {
		effects = append(effects, Effect{Behaviour: "proxy-protocol", Old: old.proxy, New: now.proxy})
	}
	if len(effects) == 0 && old.end.Backend == now.end.Backend {
		effects = append(effects, Effect{Behaviour: now.end.Match, New: otherContent})
	}
	return effects
}

func passedOf(static model.Static) []passed {
	var all []passed
	for _, s := range static.Streams {
		p := passed{key: s.Key(), end: End{Match: strings.ToLower(string(s.Protocol)), Backend: serviceName(s.Service), Object: s.Source}}
		if s.Snippet != "" {
			p.end.Match, p.end.Backend = "snippet", ""
		}
		if s.AcceptsProxy {
			p.proxy = "accepted"
		}
		if s.SendsProxy {
			p.proxy = strings.TrimSpace(p.proxy + " sent")
		}
		s.Endpoints, s.Field = nil, ""
		p.rest = s
		all = append(all, p)
	}
	for _, h := range static.Passthroughs {
		p := passed{key: h.Host, end: End{Match: "passthrough", Backend: serviceName(h.Service), Object: h.Source}}
		h.Endpoints, h.Field = nil, ""
		p.rest = h
		all = append(all, p)
	}
	return all
}
