package controller

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// remembered is the file with what nginx refused, so that a restart does not test
// it again. It counts only for the same nginx, templates and settings.
type remembered struct {
	path string
	// written is what the file holds.
	written []byte
}

// refusedForm is one Ingress of the file, by a hash of what it said.
type refusedForm struct {
	Name snapshot.Name `json:"name"`
	Hash string        `json:"hash"`
	Text string        `json:"text"`
}

// refusedForms is the file.
type refusedForms struct {
	Basis   string        `json:"basis"`
	Refused []refusedForm `json:"refused"`
}

// recall puts what was refused before this process began in quarantine again.
func (c *Controller) recall(p *plan) {
	var known refusedForms
	if json.Unmarshal(c.remembered.written, &known) != nil || known.Basis != c.fingerprint(p) {
		return
	}
	for _, was := range known.Refused {
		ing := p.snap.Ingress(was.Name)
		if ing == nil || hashOf(ing) != was.Hash {
			continue
		}
		object := model.ObjectRef{Kind: "Ingress", Namespace: was.Name.Namespace, Name: was.Name.Name}
		at := &plan{snap: p.snap, served: p.snap, options: p.options, templates: p.templates, configs: p.configs}
		c.quarantine.add(at, culprit{object: object, text: was.Text}, c.good.ingresses[was.Name])
	}
}

// remember writes what nginx refuses, if that changed. What depends on Secrets is
// left out: nothing of these is written.
func (c *Controller) remember(p *plan) error {
	if len(c.quarantine.entries) == 0 && c.remembered.written == nil {
		return nil
	}
	known := refusedForms{Basis: c.fingerprint(p)}
	for name, entry := range c.quarantine.entries {
		if !entry.waits && len(entry.basis.secrets) == 0 {
			known.Refused = append(known.Refused, refusedForm{name, entry.hashOf(), entry.text})
		}
	}
	slices.SortFunc(known.Refused, func(a, b refusedForm) int { return a.Name.Compare(b.Name) })
	content, err := json.Marshal(known)
	if err != nil || bytes.Equal(content, c.remembered.written) {
		return err
	}
	write := func(file *os.File) error {
		_, err := file.Write(content)
		return err
	}
	if err := replaceSynced(c.remembered.path, write, (*os.File).Sync); err != nil {
		return fmt.Errorf("write what nginx refused: %w", err)
	}
	c.remembered.written = content
	return nil
}

// openRemembered reads the file; one that cannot be read counts as empty, as all of
// it can be found out anew.
func openRemembered(path string) (*remembered, error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what nginx refused: %w", err)
	}
	return &remembered{path: path, written: content}, nil
}

// hashOf is a hash of what Sluice reads of an Ingress.
func hashOf(ing *networkingv1.Ingress) string {
	content, err := json.Marshal([]any{ing.Annotations, ing.Spec})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func (r *refusal) hashOf() string {
	if r.hash == "" {
		r.hash = hashOf(r.refused)
	}
	return r.hash
}

// fingerprint tells nginx, templates and settings apart from others.
func (c *Controller) fingerprint(p *plan) string {
	environment := c.Environment
	environment.Token = "" // another one at each start
	all := sha256.New()
	fmt.Fprintf(all, "%#v\n%s\n", environment, p.templates.Sum())
	if c.Process != nil {
		fmt.Fprintf(all, "%s\n", c.Process.Install().Version)
	}
	for _, configMap := range p.configs {
		if configMap != nil {
			fmt.Fprintf(all, "%v\n", configMap.Data) // fmt sorts the keys
		}
	}
	return hex.EncodeToString(all.Sum(nil))
}
