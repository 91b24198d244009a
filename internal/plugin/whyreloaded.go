package plugin

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

const whyReloadedExample = `  # The last reloads, the newest first
  kubectl sluice why-reloaded

  # With more names, and the duration of each stage
  kubectl sluice why-reloaded -o wide

  # The last one, for a program to read
  kubectl sluice why-reloaded -o json | jq '.[0]'`

func whyReloadedCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "why-reloaded",
		Aliases: []string{"reloads"},
		Short:   "Show the last reloads of nginx, and why they happened",
		Long: fmt.Sprintf("Show the last reloads of nginx, at most %d, the newest first: the cause, what changed, by how many lines and bytes nginx.conf\n", debugapi.MostReloads) +
			"differs from the one before, and how long it took. Attempts that failed are among them. The list begins anew with the controller.\n" +
			"Each pod has its own nginx: --pod says whose reloads are shown.\n\n" +
			"The causes are start, restart (nginx had to be started again), templates, settings, streams (TCP and UDP services),\n" +
			"passthrough (hosts whose TLS is passed through), hosts, and other. The first that holds is shown.",
		Example: whyReloadedExample,
		Args:    noMore,
	}
	v := s.view(cmd, asTable, asWide, asJSON, asYAML)
	cmd.RunE = func(*cobra.Command, []string) error {
		return show(v, asking(debugapi.ReloadsPath), func(o output, reloads []debugapi.Reload) error { return s.printReloads(o, reloads, time.Now()) })
	}
	return cmd
}

func (s *session) printReloads(o output, reloads []debugapi.Reload, now time.Time) error {
	if len(reloads) == 0 {
		s.note("no reloads yet")
		return nil
	}
	return o.table(reloadTable(reloads, now, o.format == asWide))
}

// reloadTable has all known names of what changed if all is set.
func reloadTable(reloads []debugapi.Reload, now time.Time, all bool) table {
	t := table{heading: []string{"AGO", "CAUSE", "CHANGED", "LINES", "BYTES", "TOOK", "RESULT", "LOAD", "DECIDE", "PUSH", "TEST", "LIVE", "SETTLED"}, wide: 6}
	for _, r := range reloads {
		took := r.Seconds
		row := cells(ago(now.Sub(r.At)), r.Cause, changesOf(r.Changed, all), fmt.Sprintf("+%d -%d", r.LinesAdded, r.LinesRemoved), fmt.Sprintf("%+d", r.BytesMore), seconds(took.All), "",
			seconds(took.Load), seconds(took.Decide), seconds(took.Push), seconds(took.Test), seconds(took.Live), seconds(took.Settled))
		row[6] = resultOf(r)
		t.rows = append(t.rows, row)
	}
	return t
}

func resultOf(r debugapi.Reload) cell {
	switch {
	case r.Error == "":
		return cell{"loaded", green}
	case r.Repeated > 0:
		return cell{fmt.Sprintf("failed %d times: %s", r.Repeated+1, r.Error), red}
	}
	return cell{"failed: " + r.Error, red}
}

// seconds writes a duration with three digits after the point, "-" for none.
func seconds(s float64) string {
	if s == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3fs", s)
}

// kindsShown are the kinds of changes as people read them: one, and several.
var kindsShown = map[string][2]string{
	"ingresses": {"Ingress", "Ingresses"}, "secrets": {"Secret", "Secrets"}, "hosts": {"host", "hosts"}, "services": {"Service", "Services"},
	"certificates": {"certificate", "certificates"}, "streams": {"stream", "streams"}, "passedThrough": {"host passed through", "hosts passed through"},
}

// mostChanged is the maximum number of names of one kind in a row, unless the table is wide.
const mostChanged = 1

// changesOf describes changes, such as "2 Ingresses (shop/cart, ...); 1 host gone (a.example)".
func changesOf(all []debugapi.Changed, wide bool) string {
	var parts []string
	for _, c := range all {
		if c.Kind == "everywhere" {
			parts = append(parts, strings.Join(c.Names, " and "))
			continue
		}
		kind, gone := strings.CutSuffix(c.Kind, "Gone")
		words, known := kindsShown[kind]
		if !known {
			words = [2]string{kind, kind}
		}
		text := model.Counted(c.Count, words[0], words[1])
		if gone {
			text += " gone"
		}
		names := c.Names
		if !wide {
			names = names[:min(len(names), mostChanged)]
		}
		text += " (" + strings.Join(names, ", ")
		if len(names) < c.Count {
			text += ", ..."
		}
		parts = append(parts, text+")")
	}
	return orDash(strings.Join(parts, "; "))
}
