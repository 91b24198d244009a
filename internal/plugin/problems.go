package plugin

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

const problemsExample = `  # The Problems of all namespaces
  kubectl sluice problems --all-namespaces

  # The Problems of one namespace
  kubectl sluice problems --namespace shop

  # The Problems of one Ingress
  kubectl sluice problems --ingress shop/admin -o yaml

  # Those of all namespaces as they come and go, until Ctrl-C
  kubectl sluice problems -A --watch`

func problemsCommand(s *session) *cobra.Command {
	var all, watch bool
	var ingress string
	cmd := &cobra.Command{
		Use:     "problems",
		Aliases: []string{"problem"},
		Short:   "Show the Problems of objects, with valid values",
		Long: "Show the mistakes that the controller found in Ingresses and the objects that they name, with the field and a valid value.\n" +
			"Those of the namespace are shown, or of --all-namespaces; the controller itself may be in another.\n\n" +
			"With --watch, Problems are shown as they come (ADDED) and go (REMOVED), until you press Ctrl-C; those that there are come first.\n" +
			"With -o json, each is a JSON object in a line: {\"event\": ..., \"problem\": ...}. If the controller stops answering, the plugin\n" +
			"says so on standard error, and looks for it again.",
		Example: problemsExample,
		Args:    noMore,
	}
	v := s.view(cmd, asTable, asWide, asJSON, asYAML, asName)
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "show the problems of all namespaces")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show problems as they come and go, until Ctrl-C")
	s.ingressFlag(cmd, &ingress, "only the problems of this Ingress, as NAMESPACE/NAME")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if watch && !slices.Contains(watchFormats, v.chosen) {
			return fmt.Errorf("--watch: want it with -o %s (got %s)", model.OneOf(watchFormats), v.chosen)
		}
		c, err := s.connect()
		if err != nil {
			return err
		}
		reference, err := s.ingressReference(ingress)
		if err != nil {
			return err
		}
		namespace := c.namespace
		if all || reference != "" {
			namespace = ""
		}
		q := asking(debugapi.ProblemsPath, debugapi.NamespaceParam, namespace, debugapi.IngressParam, reference)
		if watch {
			return s.watchProblems(cmd.Context(), v, q)
		}
		return show(v, q, func(o output, problems []model.Problem) error { return s.printProblems(o, problems, namespace) })
	}
	return cmd
}

func (s *session) printProblems(o output, problems []model.Problem, namespace string) error {
	if o.format == asName {
		var objects []model.ObjectRef
		for _, p := range problems {
			objects = append(objects, p.Object)
		}
		return o.names(objects)
	}
	if len(problems) == 0 {
		s.note("no problems%s", where(namespace, ""))
		return nil
	}
	return o.table(problemTable(problems))
}

func problemTable(problems []model.Problem) table {
	t := table{heading: []string{"OBJECT", "REASON", "FIELD", "TEXT"}}
	for _, p := range problems {
		t.rows = append(t.rows, problemRow(p))
	}
	return t
}

func problemRow(p model.Problem) []cell {
	row := cells(p.Object.String(), string(p.Reason), orDash(p.Field), p.Message())
	if row[1].colour = yellow; p.Denies || p.Reason == model.Refused {
		row[1].colour = red
	}
	return row
}
