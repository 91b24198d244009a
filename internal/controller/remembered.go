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
	"sluice/internal/nginx"
	"sluice/internal/quarantine"
)

// remembered is the file with the rejected forms, so that a restart does not test them
// again. It is valid only for the same nginx, templates and settings.
type remembered struct {
	path string
	// written is the content of the file.
	written []byte
}

// refusedForm is one object of the file, with a hash of its content. The JSON key of
// the object is that of earlier versions, which wrote a name without a kind.
type refusedForm struct {
	Object model.ObjectRef `json:"name"`
	Hash   string          `json:"hash"`
	Text   string          `json:"text"`
}

// refusedForms is the content of the file.
type refusedForms struct {
	Basis   string        `json:"basis"`
	Refused []refusedForm `json:"refused"`
}

// recall puts the forms that a former process found to be rejected in quarantine again.
func (c *Controller) recall(p *plan) {
	var known refusedForms
	if json.Unmarshal(c.remembered.written, &known) != nil || known.Basis != c.fingerprint(p) {
		return
	}
	for _, was := range known.Refused {
		found := culprit{object: ofBefore(was.Object), text: was.Text}
		if f, ok := p.finding(found, c.good); ok && hashOf(f.Refused) == was.Hash {
			c.quarantine.Refuse(c.quarantine.Turn(), f)
		}
	}
}

// remember writes the rejected forms if they changed. It leaves out those that depend
// on Secrets, so that nothing of a Secret is written.
func (c *Controller) remember(p *plan) error {
	if c.quarantine.Empty() && c.remembered.written == nil {
		return nil
	}
	known := refusedForms{Basis: c.fingerprint(p)}
	for r := range c.quarantine.All() {
		if r.Apart && !r.Waits && len(r.Basis) == len(p.basis) {
			known.Refused = append(known.Refused, refusedForm{r.Subject.ObjectRef, r.Hash(hashOf), r.Text})
		}
	}
	slices.SortFunc(known.Refused, func(a, b refusedForm) int { return a.Object.Compare(b.Object) })
	content, err := json.Marshal(known)
	if err != nil || bytes.Equal(content, c.remembered.written) {
		return err
	}
	write := func(file *os.File) error {
		_, err := file.Write(content)
		return err
	}
	if err := nginx.ReplaceSynced(c.remembered.path, write, (*os.File).Sync); err != nil {
		return fmt.Errorf("write what nginx refused: %w", err)
	}
	c.remembered.written = content
	return nil
}

// openRemembered reads the file. Content that does not parse is ignored later, because
// everything can be tested again.
func openRemembered(path string) (*remembered, error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what nginx refused: %w", err)
	}
	return &remembered{path: path, written: content}, nil
}

// hashOf returns a hash of the parts of an object that Sluice reads.
func hashOf(form quarantine.Form) string {
	ing, ok := form.(*networkingv1.Ingress)
	if !ok {
		return ""
	}
	content, err := json.Marshal([]any{ing.Annotations, ing.Spec})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// fingerprint returns a hash of nginx's version, the templates and the settings.
func (c *Controller) fingerprint(p *plan) string {
	environment := c.Environment
	environment.Token = "" // it differs at each start
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
