package plugin

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

const certsExample = `  # All certificates with their expiry dates
  kubectl sluice certs

  # The certificate of a host, as PEM
  kubectl sluice certs --host www.shop.example

  # The same as JSON
  kubectl sluice certs --host www.shop.example -o json`

func certsCommand(s *session) *cobra.Command {
	var host string
	cmd := &cobra.Command{
		Use:     "certs",
		Aliases: []string{"cert", "certificates"},
		Short:   "Show the certificates and their expiry dates",
		Long: "Show the certificates that nginx presents. With --host, print the certificate for that name as PEM.\n" +
			"Private keys are never shown: the controller does not disclose them.",
		Example: certsExample,
		Args:    noMore,
	}
	v := s.view(cmd, asTable, asWide, asJSON, asYAML, asName, asPEM)
	s.hostFlag(cmd, &host, "only the certificate that clients get for this name")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if host != "" && !cmd.Flags().Changed("output") {
			v.chosen = asPEM
		}
		return show(v, asking(debugapi.CertsPath, debugapi.HostParam, host), printCertificates)
	}
	return cmd
}

func printCertificates(o output, certificates []debugapi.Certificate) error {
	switch o.format {
	case asPEM:
		for _, c := range certificates {
			if _, err := io.WriteString(o, c.Chain); err != nil {
				return err
			}
		}
		return nil
	case asName:
		var objects []model.ObjectRef
		for _, c := range certificates {
			for _, secret := range c.Secrets {
				objects = append(objects, model.ObjectRef{Kind: "secret", Namespace: secret.Namespace, Name: secret.Name})
			}
		}
		return o.names(objects)
	}
	return o.table(certificateTable(certificates, time.Now()))
}

func certificateTable(certificates []debugapi.Certificate, now time.Time) table {
	t := table{heading: []string{"HOSTS", "SECRET", "EXPIRES", "LEFT", "ISSUER", "SUBJECT", "SERIAL", "SHA256"}, wide: 3}
	for _, c := range certificates {
		hosts := c.Hosts
		if c.Default {
			hosts = append([]string{"(default)"}, hosts...)
		}
		row := cells(orDash(strings.Join(hosts, ",")), sourceOf(c), c.NotAfter.UTC().Format(time.DateTime), "", c.Issuer, c.Subject, c.Serial, c.SHA256)
		row[3] = left(c, now)
		t.rows = append(t.rows, row)
	}
	return t
}

// soon is when an expiry needs attention: automatic renewals happen earlier.
const soon = 14 * 24 * time.Hour

// left returns the remaining validity of a certificate.
func left(c debugapi.Certificate, now time.Time) cell {
	rest := c.NotAfter.Sub(now)
	switch {
	case rest <= 0:
		return cell{"expired", red}
	case now.Before(c.NotBefore):
		return cell{"not yet valid", red}
	case rest < soon:
		return cell{ago(rest), yellow}
	}
	return cell{ago(rest), green}
}

// sourceOf returns "namespace/name" of the Secrets, "self-signed" if there are none.
func sourceOf(c debugapi.Certificate) string {
	var names []string
	for _, secret := range c.Secrets {
		names = append(names, secret.Namespace+"/"+secret.Name)
	}
	if len(names) == 0 {
		return string(c.From)
	}
	return strings.Join(names, ",")
}
