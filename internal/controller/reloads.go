package controller

import (
	"slices"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/debugapi"
	"sluice/internal/report"
	"sluice/internal/snapshot"
)

// mostKept is the maximum number of names of one kind that are kept of a reload.
const mostKept = 10

// noteAttempt records an attempt to load a plan's nginx.conf, and returns its cause; "" if
// nginx already ran it. The changes are those since the plan that nginx loaded before, which
// may be other ones than those of the log line.
func (c *Controller) noteAttempt(p *plan, line report.SyncLine) string {
	before := c.shown.loaded
	if line.Err == nil {
		c.shown.loaded = p
	}
	if !line.Reload && line.Err == nil {
		return ""
	}
	what := append(changedObjects(before, p), whatChanged(before, p)...)
	r := debugapi.Reload{At: time.Now(), Cause: causeOf(before, p, what), Bytes: p.file.Len(), BytesMore: p.file.Len(), Lines: p.file.LineCount(), Seconds: stagesOf(line)}
	r.LinesAdded = r.Lines
	if before != nil {
		r.BytesMore -= before.file.Len()
		r.LinesAdded, r.LinesRemoved = p.file.LinesSince(before.file)
	}
	for _, changes := range what {
		if n := len(changes.Names); n > 0 {
			r.Changed = append(r.Changed, debugapi.Changed{Kind: changes.Kind, Count: n, Names: slices.Clone(changes.Names[:min(n, mostKept)])})
		}
	}
	if line.Err != nil {
		r.Error = line.Err.Error()
	}
	c.shown.reloads = withAttempt(c.shown.reloads, r)
	return r.Cause
}

// withAttempt returns a new list with an attempt at its front. One that failed as the one
// before replaces that, because a failure is tried again all the time.
func withAttempt(list []debugapi.Reload, r debugapi.Reload) []debugapi.Reload {
	if len(list) > 0 && r.Error != "" && list[0].Error == r.Error {
		r.Repeated = list[0].Repeated + 1
		list = list[1:]
	}
	kept := append([]debugapi.Reload{r}, list...)
	return kept[:min(len(kept), debugapi.MostReloads)]
}

func causeOf(before, p *plan, what []report.Changes) string {
	switch {
	case before == nil:
		return report.CauseStart
	case before.file.Equal(p.file):
		return report.CauseRestart
	}
	return report.Cause(what)
}

// changedObjects names the Ingresses and Secrets that differ between two plans, for people.
func changedObjects(before, now *plan) []report.Changes {
	if before == nil {
		return nil
	}
	changes := now.snap.Since(before.snap)
	ingresses := report.Changes{Kind: "ingresses"}
	gone := report.Changes{Kind: "ingressesGone"}
	if len(changes.Ingresses) > 0 {
		was, is := namesOf(before.accepted), namesOf(now.accepted)
		for _, name := range changes.Ingresses {
			switch {
			case is[name]:
				ingresses.Names = append(ingresses.Names, name.String())
			case was[name]:
				gone.Names = append(gone.Names, name.String())
			}
		}
	}
	secrets := report.Changes{Kind: "secrets"}
	for _, name := range changes.Secrets {
		secrets.Names = append(secrets.Names, name.String())
	}
	all := []report.Changes{ingresses, gone, secrets}
	for i := range all {
		slices.SortFunc(all[i].Names, strings.Compare)
		all[i].Names = slices.Compact(all[i].Names)
	}
	return all
}

func namesOf(ingresses []*networkingv1.Ingress) map[snapshot.Name]bool {
	names := make(map[snapshot.Name]bool, len(ingresses))
	for _, ing := range ingresses {
		names[snapshot.NameOf(ing)] = true
	}
	return names
}

func stagesOf(l report.SyncLine) debugapi.Stages {
	return debugapi.Stages{
		All: l.Took.Seconds(), Load: l.Load.Seconds(), Decide: l.Decide.Seconds(), Push: l.Push.Seconds(),
		Test: l.Test.Seconds(), Live: l.Live.Seconds(), Settled: l.Settled.Seconds(),
	}
}
