package plugin

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
)

const explainExample = `  # Which rule takes this URL, and why
  kubectl sluice explain https://www.shop.example/cart/7

  # The same for another method, as JSON
  kubectl sluice explain OPTIONS www.shop.example/cart -o json`

func explainCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [METHOD] URL",
		Short: "Explain which rule takes a URL, and why",
		Long: "Explain which rule of which Ingress takes a request, why each other rule does not, and which behaviours apply.\n" +
			"METHOD is GET if it is left out. URL is http://host/path, https://host/path or host/path, which is HTTP unless its port is 443.",
		Example: explainExample,
		Args:    methodAndURL,
	}
	var short bool
	cmd.Flags().BoolVar(&short, "short", false, "show the outcome alone, in one line")
	v := s.view(cmd, asText, asJSON, asYAML)
	cmd.RunE = func(_ *cobra.Command, arguments []string) error {
		method, target := "", arguments[len(arguments)-1]
		if len(arguments) == 2 {
			method = arguments[0]
		}
		return v.text(asking(debugapi.ExplainPath, debugapi.URLParam, target, debugapi.MethodParam, method), func(body []byte) []byte {
			if first, _, _ := bytes.Cut(body, []byte("\n")); short {
				return append(first, '\n')
			}
			return body
		})
	}
	return cmd
}

// methodAndURL rejects other arguments than those of explain.
func methodAndURL(_ *cobra.Command, arguments []string) error {
	if n := len(arguments); n == 1 || n == 2 {
		return nil
	}
	return fmt.Errorf("want a URL, such as https://shop.example/cart, with the method before it if it is not GET (got %q)", strings.Join(arguments, " "))
}
