package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

const (
	// interval is how often the objects are looked at: an overwritten caBundle is put right within
	// that time.
	interval = 10 * time.Second
	// soon is the interval while a new certificate waits to be presented. It is also the time that
	// API servers have to hear of its authority.
	soon = 3 * time.Second
	// patience limits the requests of one look.
	patience = 30 * time.Second
)

// Client is the part of kube.Client that a Keeper needs.
type Client interface {
	Get(ctx context.Context, r kube.Resource, name snapshot.Name, into runtime.Object) error
	Update(ctx context.Context, r kube.Resource, object kube.Object, subresource ...string) error
	Patch(ctx context.Context, r kube.Resource, p kube.Patch, into runtime.Object) error
}

// Options configure a Keeper.
type Options struct {
	Client Client
	// Secret holds the certificate. It must exist, and may be empty: a right to create Secrets
	// cannot be restricted to a name.
	Secret snapshot.Name
	// Service is the one by which the API server reaches the webhook.
	Service snapshot.Name
	// Configuration is the name of the ValidatingWebhookConfiguration whose webhooks with that
	// Service get the authorities; empty for none.
	Configuration string
	Log           *slog.Logger
}

// Keeper keeps the certificate. Use New. Certificate and Expires may be called at any time.
type Keeper struct {
	options Options
	now     func() time.Time
	trouble string // the last error that was logged
	// next waits to be presented: it was stored, but API servers may not know its authority yet.
	// overtaken is set if another replica has just written one of the objects.
	next      *Pair
	overtaken bool

	mutex sync.Mutex
	held  *Pair // the presented one, nil before the first
}

// New returns a Keeper that has no certificate yet.
func New(o Options) *Keeper { return &Keeper{options: o, now: time.Now} }

// Run keeps the certificate until ctx ends. Errors are logged, and it goes on.
func (k *Keeper) Run(ctx context.Context) {
	for {
		err := k.look(ctx)
		if ctx.Err() != nil {
			return
		}
		k.logOnce(err)
		pause := interval
		if k.next != nil || k.overtaken {
			pause = soon
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

func (k *Keeper) logOnce(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case text == k.trouble:
	case err != nil:
		k.options.Log.Error("the certificate of the admission webhook is not kept; trying again", "error", err)
	default:
		k.options.Log.Info("the certificate of the admission webhook is kept again")
	}
	k.trouble = text
}

// Certificate returns the certificate to present.
func (k *Keeper) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	held := k.presented()
	if held == nil {
		return nil, errNone
	}
	return held.served, nil
}

// Expires returns when the presented certificate expires, false if there is none.
func (k *Keeper) Expires() (time.Time, bool) {
	held := k.presented()
	if held == nil {
		return time.Time{}, false
	}
	return held.served.Leaf.NotAfter, true
}

func (k *Keeper) presented() *Pair {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.held
}

// names are the DNS names of the Service. API servers ask for the first.
func (k *Keeper) names() []string {
	service := k.options.Service.Name + "." + k.options.Service.Namespace + ".svc"
	return []string{service, service + ".cluster.local"}
}

// look reads the Secret, renews what it holds if that is due, puts its authorities into the
// configuration, and presents the certificate.
func (k *Keeper) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	k.overtaken = false
	secret := &corev1.Secret{}
	if err := k.options.Client.Get(ctx, kube.Secrets, k.options.Secret, secret); err != nil {
		return fmt.Errorf("get Secret %s, which has to exist and may be empty: %w", k.options.Secret, err)
	}
	stored, unusable := Parse(secret.Data, k.names(), k.now())
	var renewal error
	if stored == nil || k.now().After(stored.due()) {
		if stored == nil && !isEmpty(secret.Data) {
			k.options.Log.Warn("the certificate of the admission webhook cannot be used; making a new one", "secret", k.options.Secret.String(), "error", unusable)
		}
		var made *Pair
		if made, renewal = k.renew(ctx, secret, stored); made != nil {
			stored = made
		}
	}
	if stored == nil {
		return k.unlessOvertaken(renewal)
	}
	trusted, err := k.trust(ctx, stored.authorities, onlyThese)
	k.present(stored, trusted)
	return errors.Join(k.unlessOvertaken(renewal), k.unlessOvertaken(err))
}

// unlessOvertaken drops an error that says that another replica was faster. What it has written is
// read soon.
func (k *Keeper) unlessOvertaken(err error) error {
	if apierrors.IsConflict(err) {
		k.overtaken = true
		return nil
	}
	return err
}

// renew makes a new certificate and stores it. former is the stored one, nil if it cannot be used. Its
// successor is stored only when API servers are told of its authority, so that no replica presents it
// before.
func (k *Keeper) renew(ctx context.Context, secret *corev1.Secret, former *Pair) (*Pair, error) {
	kept := secret.Data[authoritiesKey]
	if held := k.presented(); held != nil {
		kept = append(bytes.Clone(held.authorities), kept...)
	}
	made, err := Make(k.names(), k.now(), kept)
	if err != nil {
		return nil, err
	}
	if _, err := k.trust(ctx, made.authorities, besidesOthers); err != nil && former != nil {
		return nil, err
	}
	secret = secret.DeepCopy()
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	maps.Copy(secret.Data, made.Data())
	if err := k.options.Client.Update(ctx, kube.Secrets, secret); err != nil {
		return nil, fmt.Errorf("update Secret %s: %w", k.options.Secret, err)
	}
	k.options.Log.Info("the admission webhook has a new certificate", "secret", k.options.Secret.String(), "expires", made.served.Leaf.NotAfter)
	return made, nil
}

// present presents a stored certificate. If it replaces another one, it first waits until the
// authorities were found in the configuration, and for another look.
func (k *Keeper) present(stored *Pair, trusted bool) {
	held := k.presented()
	waits := held != nil && !held.is(stored) && k.now().Before(held.served.Leaf.NotAfter)
	if waits && !(trusted && stored.is(k.next)) {
		k.next = stored
		return
	}
	k.next = nil
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.held = stored
}

// manner says what becomes of the other authorities of a webhook that lacks some of ours.
type manner int

const (
	onlyThese manner = iota
	besidesOthers
)

// trust puts authorities into the webhooks of our Service that lack some, and leaves all others
// alone. It reports whether none lacked any. If somebody else writes meanwhile, it fails, to be
// tried again.
func (k *Keeper) trust(ctx context.Context, authorities []byte, how manner) (before bool, err error) {
	if k.options.Configuration == "" {
		return true, nil
	}
	name := snapshot.Name{Name: k.options.Configuration}
	found := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := k.options.Client.Get(ctx, kube.ValidatingWebhookConfigurations, name, found); err != nil {
		return false, fmt.Errorf("get ValidatingWebhookConfiguration %s: %w", name.Name, err)
	}
	var changes []map[string]any
	ours := 0
	for _, hook := range found.Webhooks {
		if !k.isOurs(hook) {
			continue
		}
		ours++
		if hasAll(hook.ClientConfig.CABundle, authorities, k.now()) {
			continue
		}
		wanted := authorities
		if how == besidesOthers {
			wanted = bundle(k.now(), append(bytes.Clone(authorities), hook.ClientConfig.CABundle...))
		}
		changes = append(changes, map[string]any{"name": hook.Name, "clientConfig": map[string]any{"caBundle": wanted}})
	}
	if ours == 0 {
		return false, fmt.Errorf("ValidatingWebhookConfiguration %s: want a webhook with the Service %s (got none)", name.Name, k.options.Service)
	}
	if len(changes) == 0 {
		return true, nil
	}
	return false, k.patch(ctx, found, changes)
}

func (k *Keeper) isOurs(hook admissionregistrationv1.ValidatingWebhook) bool {
	service := hook.ClientConfig.Service
	return service != nil && service.Namespace == k.options.Service.Namespace && service.Name == k.options.Service.Name
}

// patch changes webhooks of a configuration by their names, if it is still as it was found.
func (k *Keeper) patch(ctx context.Context, found *admissionregistrationv1.ValidatingWebhookConfiguration, webhooks []map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": found.ResourceVersion}, "webhooks": webhooks})
	if err != nil {
		return fmt.Errorf("encode the authorities of the admission webhook: %w", err)
	}
	p := kube.Patch{Name: snapshot.Name{Name: found.Name}, Type: types.StrategicMergePatchType, Body: body}
	if err := k.options.Client.Patch(ctx, kube.ValidatingWebhookConfigurations, p, found); err != nil {
		return fmt.Errorf("patch ValidatingWebhookConfiguration %s: %w", found.Name, err)
	}
	k.options.Log.Info("the API server is told the authorities of the admission webhook", "configuration", found.Name)
	return nil
}
