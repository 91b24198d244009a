package plugin

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// question is one request to the controller.
type question struct {
	path  string
	query url.Values
}

// asking returns a question without the empty parameters.
func asking(path string, parameters ...string) question {
	q := question{path, url.Values{}}
	for i := 0; i+1 < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			q.query.Set(parameters[i], parameters[i+1])
		}
	}
	return q
}

// view is a command that prints an answer of the controller.
type view struct {
	*session
	cmd  *cobra.Command
	pods *podFlags
	*format
}

// view adds the flags of such a command.
func (s *session) view(cmd *cobra.Command, formats ...string) *view {
	return &view{s, cmd, s.podFlags(cmd), addFormat(cmd, formats...)}
}

// show asks a question and prints the answer: unchanged for JSON and YAML, and otherwise
// with print.
func show[T any](v *view, q question, print func(output, T) error) error {
	body, err := v.ask(v.cmd, v.pods, q)
	if err != nil {
		return err
	}
	return printed(v.output(v.chosen), body, print)
}

func printed[T any](o output, body []byte, print func(output, T) error) error {
	if o.isDocument() {
		return o.document(body)
	}
	value, err := decode[T](body)
	if err != nil {
		return err
	}
	return print(o, value)
}

// text asks a question whose answer is a text, and prints the part that some returns, or
// the whole answer for JSON and YAML.
func (v *view) text(q question, some func(body []byte) []byte) error {
	o, kind := v.output(v.chosen), debugapi.Text
	if o.isDocument() {
		kind = debugapi.JSON
	}
	q.query.Set(debugapi.FormatParam, kind)
	body, err := v.ask(v.cmd, v.pods, q)
	switch {
	case err != nil:
		return err
	case o.isDocument():
		return o.document(body)
	}
	_, err = o.Write(some(body))
	return err
}

// ask finds the controller and asks it.
func (s *session) ask(cmd *cobra.Command, pods *podFlags, q question) ([]byte, error) {
	ctx, cancel := bounded(cmd)
	defer cancel()
	c, err := s.controller(ctx, pods)
	if err != nil {
		return nil, err
	}
	return c.get(ctx, q.path, q.query)
}

// ingressReference parses --ingress: NAMESPACE/NAME, or a name in the current namespace.
// An empty text stays empty.
func (s *session) ingressReference(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	c, err := s.connect()
	if err != nil {
		return "", err
	}
	name, err := snapshot.ParseReference(text, c.namespace)
	if err != nil {
		return "", flagError("ingress", err)
	}
	return name.String(), nil
}

// hostFlag and ingressFlag add the flags that select a part of the answer.
func (s *session) hostFlag(cmd *cobra.Command, into *string, usage string) {
	cmd.Flags().StringVar(into, "host", "", usage)
	mustComplete(cmd, "host", s.completion(completeHosts))
}

func (s *session) ingressFlag(cmd *cobra.Command, into *string, usage string) {
	cmd.Flags().StringVar(into, "ingress", "", usage)
	mustComplete(cmd, "ingress", s.completion(completeIngresses))
}

// podFlags adds the flags that select a pod.
func (s *session) podFlags(cmd *cobra.Command) *podFlags {
	f := &podFlags{}
	f.add(cmd.Flags())
	mustComplete(cmd, "pod", s.completion(func(ctx context.Context, c *cluster) ([]string, error) { return completePods(ctx, c, f.namespace) }))
	mustComplete(cmd, "deployment", s.completion(func(ctx context.Context, c *cluster) ([]string, error) { return completeOwners(ctx, c, f.namespace) }))
	mustComplete(cmd, "controller-namespace", s.completion(completeNamespaces))
	return f
}

// catchAll is the shown host of rules without one.
const catchAll = "*"

// objectName returns "namespace/name" for an Ingress, "-" for no object.
func objectName(o model.ObjectRef) string {
	switch {
	case o.Name == "":
		return "-"
	case o.Kind == "Ingress":
		return o.Namespace + "/" + o.Name
	}
	return o.String()
}
