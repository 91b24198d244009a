package debug

import (
	"context"
	"strings"
	"time"

	"sluice/internal/debugapi"
	"sluice/internal/settings"
)

// nginxTimeout limits the request to nginx. Without its answer, the others are still
// useful.
const nginxTimeout = time.Second

// general answers with the state of the controller.
func (q *question) general() (body, error) {
	g := debugapi.General{Version: q.Version, Nginx: q.nginx(), Ready: true, LastApply: q.state.Last.view(), Settings: []debugapi.Setting{}}
	if err := q.Ready(); err != nil {
		g.Ready, g.Missing = false, oneLine(err)
	}
	if q.Leader != nil {
		leader := q.Leader()
		g.Leader = &leader
	}
	g.Counts.Problems = len(q.state.Problems)
	if c := q.state.Confirmed; c != nil {
		g.ConfHash = c.File.Hash()
		g.Counts.Ingresses, g.Counts.Servers = len(c.Ingresses), len(c.Config.Static.Servers)
		for _, s := range c.Config.Static.Servers {
			g.Counts.Locations += len(s.Locations)
		}
		held := q.state.held()
		g.Counts.Backends, g.Counts.Certificates = len(held.Backends), len(held.Certificates)
		g.Settings = c.changedSettings()
	}
	return jsonBody{g}, nil
}

// nginx asks nginx's workers for their status.
func (q *question) nginx() debugapi.Nginx {
	n := debugapi.Nginx{Version: q.Nginx.Version, Capabilities: filled(q.Nginx.Capabilities.Features), Memory: []debugapi.Memory{}}
	ctx, cancel := context.WithTimeout(q.ctx, nginxTimeout)
	defer cancel()
	status, err := q.Status(ctx)
	if err != nil {
		n.Error = oneLine(err)
		return n
	}
	n.Answers, n.Load, n.Workers = true, status.Load, len(status.Workers)
	for _, m := range status.Memory {
		n.Memory = append(n.Memory, debugapi.Memory(m))
	}
	return n
}

// oneLine returns an error as one line. Joined errors are on separate lines.
func oneLine(err error) string { return shown(strings.ReplaceAll(err.Error(), "\n", "; ")) }

// view returns an attempt for JSON, nil for none.
func (a *Attempt) view() *debugapi.Apply {
	if a == nil {
		return nil
	}
	v := &debugapi.Apply{At: a.At.UTC(), Seconds: a.Took.Seconds(), Reloaded: a.Reloaded, Hash: a.File.Hash()}
	if a.Err != nil {
		v.Error = oneLine(a.Err)
	}
	return v
}

// changedSettings returns the settings that differ from their defaults, in the order of
// docs/reference.
func (c *Confirmed) changedSettings() []debugapi.Setting {
	values, _ := settings.Read(c.Snapshot.ConfigMap(c.Options.ConfigMap))
	changed := []debugapi.Setting{}
	for _, group := range settings.Groups() {
		for _, key := range group.Keys {
			if value, ok := values.Value(key.Key); ok && value != key.Default {
				changed = append(changed, debugapi.Setting{Key: key.Key, Value: shown(value), Default: shown(key.Default)})
			}
		}
	}
	return changed
}
