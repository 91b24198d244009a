package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"sluice/internal/admission"
	"sluice/internal/admission/certificate"
	"sluice/internal/admission/webhook"
	"sluice/internal/controller"
	"sluice/internal/lint"
	"sluice/internal/snapshot"
)

// webhookFlags are the flags about the admission webhook.
type webhookFlags struct {
	address, certificate, key, mode string
	// These are for a certificate that Sluice makes itself.
	secret, service, configuration string
	alone                          bool
}

// The modes of the webhook.
const (
	enforce = "enforce"
	warn    = "warn"
)

func (f *webhookFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "validating-webhook", "", "address of the admission webhook, such as :8443, which rejects Ingresses that would not be served as written; none if empty")
	flags.StringVar(&f.certificate, "validating-webhook-certificate", "", "file with the certificate of the webhook in PEM; read again when it changes")
	flags.StringVar(&f.key, "validating-webhook-key", "", "file with its private key")
	flags.StringVar(&f.secret, "validating-webhook-secret", "", "Secret, as NAMESPACE/NAME, in which Sluice keeps a certificate for the webhook that it makes and renews itself, in place of files; it has to exist and may be empty")
	flags.StringVar(&f.service, "validating-webhook-service", "", "Service, as NAMESPACE/NAME, by which the API server reaches the webhook; the certificate of --validating-webhook-secret is for it")
	flags.StringVar(&f.configuration, "validating-webhook-configuration", "", "ValidatingWebhookConfiguration whose webhooks with that Service get the authorities of that certificate as their caBundle; none if empty")
	flags.StringVar(&f.mode, "validating-webhook-mode", enforce, "enforce, or warn to reject nothing and tell what would be rejected; at the path "+webhook.WarnPath+" it is always warn")
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
	if f.secret == "" {
		if f.service+f.configuration != "" {
			return errors.New("--validating-webhook-service and --validating-webhook-configuration: want --validating-webhook-secret with them")
		}
		if f.certificate == "" || f.key == "" {
			return errors.New("--validating-webhook: want --validating-webhook-secret with it, or --validating-webhook-certificate and --validating-webhook-key")
		}
		return nil
	}
	if f.certificate+f.key != "" {
		return errors.New("--validating-webhook-secret: want no --validating-webhook-certificate and --validating-webhook-key with it (got both)")
	}
	if _, err := snapshot.ParseName(f.secret); err != nil {
		return fmt.Errorf("--validating-webhook-secret: %w", err)
	}
	if _, err := snapshot.ParseName(f.service); err != nil {
		return fmt.Errorf("--validating-webhook-service: %w", err)
	}
	return nil
}

// webhookFlag is the flag that turns the webhook on.
const webhookFlag = "--validating-webhook"

// webhookPort returns the port of the webhook, false if there is none.
func (f *webhookFlags) webhookPort() (number int, is bool) {
	_, port, err := net.SplitHostPort(f.address)
	if err != nil {
		return 0, false
	}
	number, err = strconv.Atoi(port)
	return number, err == nil
}

// presented is the certificate of the webhook.
type presented interface {
	Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Expires returns when it expires, false if there is none.
	Expires() (time.Time, bool)
}

// presentedBy returns the certificate of the webhook, nil without a webhook. The flags must be valid.
func (p *parts) presentedBy(f *webhookFlags) (presented, error) {
	switch {
	case f.address == "":
		return nil, nil
	case f.secret == "":
		return webhook.Open(f.certificate, f.key, p.options.Log), nil
	case p.cluster == nil:
		return nil, usage(errors.New("--validating-webhook-secret: want a cluster, not --manifests"))
	}
	secret, _ := snapshot.ParseName(f.secret)
	service, _ := snapshot.ParseName(f.service)
	return certificate.New(certificate.Options{Client: p.cluster.client, Secret: secret, Service: service, Configuration: f.configuration, Log: p.options.Log}), nil
}

// serveWebhook answers reviews until ctx ends.
func (p *parts) serveWebhook(ctx context.Context, f *runFlags, c *controller.Controller) error {
	if f.address == "" {
		return nil
	}
	if keeper, is := p.presented.(*certificate.Keeper); is {
		go keeper.Run(ctx)
	}
	watch, err := f.watch()
	if err != nil {
		return usage(err)
	}
	server := webhook.New(webhook.Options{
		Address: f.address, Certificate: p.presented.Certificate, WarnOnly: f.mode == warn, Reviewed: p.metered.Reviewed, Log: p.options.Log,
		Basis: func() (admission.Basis, bool) {
			state := c.State()
			// A pod that ends is asked until the API server hears of that.
			if state == nil || state.Confirmed == nil || c.Ready() != nil && !c.Stopping() {
				return admission.Basis{}, false
			}
			of := state.Confirmed
			return admission.Basis{
				Snapshot: state.Snapshot, Alone: f.alone,
				Options: lint.Options{Watch: watch, Translate: of.Options, Templates: of.Templates, Environment: of.Environment},
			}, true
		},
	})
	return server.Listen(ctx)
}
