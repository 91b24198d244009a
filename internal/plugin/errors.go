package plugin

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"sluice/internal/kube"
	"sluice/internal/model"
)

// explained adds the request and a hint to an error of the API server; nil stays nil.
func (c *cluster) explained(err error, format string, arguments ...any) error {
	if err == nil {
		return nil
	}
	asked := fmt.Sprintf(format, arguments...)
	var request *url.Error
	switch {
	case errors.As(err, &request) && request.URL != "":
		where, _ := url.Parse(request.URL)
		if where == nil {
			break
		}
		err = kube.Unreached(where.Scheme+"://"+where.Host, err)
		if c.guessed {
			err = fmt.Errorf("no kubeconfig, or %w (--kubeconfig, $KUBECONFIG or ~/.kube/config says where it is)", err)
		}
		return err
	case isForbidden(err):
		return fmt.Errorf("%s: %w (%s)", asked, err, rightsHint)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s: %w (--user, --token and --context say who you are)", asked, err)
	}
	return fmt.Errorf("%s: %w", asked, err)
}

// rightsHint is for users without the necessary permissions.
const rightsHint = "the rights that kubectl sluice needs are in docs/plugin.md"

// isForbidden also recognises the text of such an error, as kubectl prints it.
func isForbidden(err error) bool {
	return apierrors.IsForbidden(err) || strings.Contains(err.Error(), " is forbidden: ")
}

// mostShown limits a line of foreign text.
const mostShown = 4000

// printableLines escapes everything in a text that is not printable, except line
// ends.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = model.OneLine(strings.ReplaceAll(line, "\t", "    "), mostShown)
	}
	return strings.Join(lines, "\n")
}
