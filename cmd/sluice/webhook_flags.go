package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"

	"sluice/internal/admission"
	"sluice/internal/admission/webhook"
	"sluice/internal/controller"
	"sluice/internal/lint"
)

// webhookFlags are the flags about the admission webhook.
type webhookFlags struct {
	address, certificate, key, mode string
	alone                           bool
}

// The modes of the webhook.
const (
	enforce = "enforce"
	warn    = "warn"
)

func (f *webhookFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "validating-webhook", "", "address of the admission webhook, such as :8443, which refuses Ingresses that would not be served as written; none if empty")
	flags.StringVar(&f.certificate, "validating-webhook-certificate", "", "file with the certificate of the webhook in PEM; read again when it changes")
	flags.StringVar(&f.key, "validating-webhook-key", "", "file with its private key")
	flags.StringVar(&f.mode, "validating-webhook-mode", enforce, "enforce, or warn to refuse nothing and tell what would be refused; at the path "+webhook.WarnPath+" it is always warn")
	flags.BoolVar(&f.alone, "disable-full-test", false, "have the webhook judge an Ingress without the others that share a host with it")
}

// validate returns an error with the flag, its value and a valid one.
func (f *webhookFlags) validate() error {
	if f.mode != enforce && f.mode != warn {
		return fmt.Errorf("--validating-webhook-mode: want %s or %s (got %q)", enforce, warn, f.mode)
	}
	if f.address == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(f.address); err != nil {
		return fmt.Errorf("--validating-webhook: want HOST:PORT or :PORT (got %q)", f.address)
	}
	if f.certificate == "" || f.key == "" {
		return errors.New("--validating-webhook: want --validating-webhook-certificate and --validating-webhook-key with it")
	}
	return nil
}

// serveWebhook answers reviews until ctx ends.
func (p *parts) serveWebhook(ctx context.Context, f *runFlags, c *controller.Controller) error {
	if f.address == "" {
		return nil
	}
	files := webhook.Open(f.certificate, f.key, p.options.Log)
	server := webhook.New(webhook.Options{
		Address: f.address, Certificate: files.Certificate, WarnOnly: f.mode == warn, Reviewed: p.metered.Reviewed, Log: p.options.Log,
		Basis: func() (admission.Basis, bool) {
			state := c.State()
			if state == nil || state.Confirmed == nil || c.Ready() != nil {
				return admission.Basis{}, false
			}
			of := state.Confirmed
			return admission.Basis{
				Snapshot: state.Snapshot, Alone: f.alone,
				Options: lint.Options{Translate: of.Options, Templates: of.Templates, Environment: of.Environment},
			}, true
		},
	})
	return server.Listen(ctx)
}
