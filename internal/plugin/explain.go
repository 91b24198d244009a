package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
)

const explainExample = `  # Which rule takes this URL, and why
  kubectl sluice explain https://www.shop.example/cart/7

  # The same for another method, as JSON
  kubectl sluice explain OPTIONS www.shop.example/cart -o json

  # Send the request to nginx, and compare its decision
  kubectl sluice explain --live https://www.shop.example/cart/7`

func explainCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [METHOD] URL",
		Short: "Explain which rule takes a URL, and why",
		Long: "Explain which rule of which Ingress takes a request, why each other rule does not, and which behaviours apply.\n" +
			"METHOD is GET if it is left out. URL is http://host/path, https://host/path or host/path, which is HTTP unless its port is 443.\n\n" +
			"With --live, the controller also sends the request to its nginx, and shows what nginx decided: the location, the Ingress, the\n" +
			"backend and the endpoint. Differences from the explanation are listed, and the exit status is then 1. METHOD is GET, HEAD or\n" +
			"OPTIONS. It needs the settings debug-header-secret, and debug-header-cidrs with 127.0.0.1. With --address, the request is sent\n" +
			"from here to that address, such as the one of the load balancer, with the token in $" + tokenVariable + ".",
		Example: explainExample,
		Args:    methodAndURL,
	}
	var short, live bool
	var address string
	cmd.Flags().BoolVar(&short, "short", false, "show the outcome alone, in one line")
	cmd.Flags().BoolVar(&live, "live", false, "send the request to nginx, and compare what it decides")
	cmd.Flags().StringVar(&address, "address", "", "with --live: send the request from here to this HOST or HOST:PORT")
	cmd.MarkFlagsMutuallyExclusive("live", "short")
	v := s.view(cmd, asText, asJSON, asYAML)
	cmd.RunE = func(_ *cobra.Command, arguments []string) error {
		method, target := "", arguments[len(arguments)-1]
		if len(arguments) == 2 {
			method = arguments[0]
		}
		switch {
		case live:
			return v.live(method, target, address)
		case address != "":
			return errors.New("--address: want it with --live")
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
