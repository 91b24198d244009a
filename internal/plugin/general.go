package plugin

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

const generalExample = `  # Version, nginx, the last change, and settings that differ from their defaults
  kubectl sluice general

  # For a program to read
  kubectl sluice general -o json`

func generalCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "general",
		Short:   "Show the state of the controller: versions, last change, counts, settings",
		Example: generalExample,
		Args:    noMore,
	}
	v := s.view(cmd, asText, asJSON, asYAML)
	cmd.RunE = func(*cobra.Command, []string) error {
		return show(v, asking(debugapi.GeneralPath), func(o output, g debugapi.General) error { return printGeneral(o, g, time.Now()) })
	}
	return cmd
}

func printGeneral(o output, g debugapi.General, now time.Time) error {
	var text strings.Builder
	field := func(name string, value cell) {
		fmt.Fprintf(&text, "%-15s%s\n", name+":", o.paint(printableLines(value.text), value.colour))
	}
	field("Version", cell{text: g.Version})
	field("Ready", readiness(g))
	field("nginx", nginxState(g.Nginx))
	field("Can do", cell{text: orDash(strings.Join(g.Nginx.Capabilities, ", "))})
	field("Last apply", lastApply(g.LastApply, now))
	field("nginx.conf", cell{text: orDash(g.ConfHash)})
	c := g.Counts
	field("Serves", cell{text: strings.Join([]string{
		model.Counted(c.Ingresses, "Ingress", "Ingresses"), model.Counted(c.Servers, "server", "servers"), model.Counted(c.Locations, "location", "locations"),
		model.Counted(c.Backends, "backend", "backends"), model.Counted(c.Certificates, "certificate", "certificates"),
	}, ", ")})
	problems := cell{fmt.Sprint(c.Problems), green}
	if c.Problems > 0 {
		problems.colour = yellow
	}
	field("Problems", problems)
	field("Leader", cell{text: leaderOf(g)})
	name := "Settings:"
	for _, setting := range g.Settings {
		fmt.Fprintf(&text, "%-15s%s\n", name, printableLines(fmt.Sprintf("%s: %s (default %s)", setting.Key, setting.Value, orDash(setting.Default))))
		name = ""
	}
	return o.painted(text.String())
}

func readiness(g debugapi.General) cell {
	if g.Ready {
		return cell{"yes", green}
	}
	return cell{"no: " + g.Missing, red}
}

func nginxState(n debugapi.Nginx) cell {
	if !n.Answers {
		return cell{fmt.Sprintf("%s, does not answer: %s", n.Version, n.Error), red}
	}
	return cell{text: fmt.Sprintf("%s, %d workers, load %d", n.Version, n.Workers, n.Load)}
}

func lastApply(a *debugapi.Apply, now time.Time) cell {
	switch {
	case a == nil:
		return cell{text: "none yet"}
	case a.Error != "":
		return cell{fmt.Sprintf("failed %s ago: %s", ago(now.Sub(a.At)), a.Error), red}
	}
	how := "without a reload"
	if a.Reloaded {
		how = "with a reload"
	}
	return cell{text: fmt.Sprintf("%s ago, in %.2f s, %s", ago(now.Sub(a.At)), a.Seconds, how)}
}

func leaderOf(g debugapi.General) string {
	switch {
	case g.Leader == nil:
		return "none is elected"
	case g.Leader.Leads:
		return "this pod"
	}
	return orDash(g.Leader.Identity)
}

// ago returns a duration in its largest useful unit, like kubectl.
func ago(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d/time.Second)))
	case d < 3*time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < 2*day:
		return fmt.Sprintf("%dh", int(d/time.Hour))
	}
	return fmt.Sprintf("%dd", int(d/day))
}
