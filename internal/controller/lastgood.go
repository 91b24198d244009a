package controller

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/quarantine"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// lastGood stores, in memory and in a file, the form in which each Ingress (and the
// settings) last passed nginx's test. So a restart with a bad Ingress serves the same
// as before. The file is a journal of JSON lines; the last line about an object counts.
// The file is rewritten when it is opened and when it has grown. It contains no Secret.
type lastGood struct {
	path      string
	ingresses map[model.ObjectRef]*networkingv1.Ingress
	settings  *corev1.ConfigMap
	// recorded are the Ingresses of the last record, and denied are those whose paths
	// returned 503.
	recorded []*networkingv1.Ingress
	denied   map[model.ObjectRef]claim.Denial
	// whole and size are the size of the file in bytes, after it was last rewritten and
	// now. torn is set if it may lack lines; it is then rewritten.
	whole, size int64
	torn        bool
}

// The file is rewritten when it is journalGrowth times as large as after the last time,
// plus journalSlack bytes.
const (
	journalGrowth = 4
	journalSlack  = 1 << 20
)

// journalLine is one line of the file: an Ingress, a deletion or the settings.
type journalLine struct {
	Ingress    *networkingv1.Ingress `json:"ingress,omitempty"`
	Deleted    *model.ObjectRef      `json:"deleted,omitempty"`
	Settings   *corev1.ConfigMap     `json:"settings,omitempty"`
	NoSettings bool                  `json:"noSettings,omitempty"`
}

// openLastGood reads the journal. It skips a line that does not parse, because its
// write was interrupted.
func openLastGood(path string) (*lastGood, error) {
	l := &lastGood{path: path, ingresses: map[model.ObjectRef]*networkingv1.Ingress{}}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the last good forms: %w", err)
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			l.replay(line)
		}
		if err != nil {
			break
		}
	}
	l.recorded = slices.SortedFunc(maps.Values(l.ingresses), snapshot.ByAge)
	return l, l.compact()
}

func (l *lastGood) replay(line []byte) {
	var entry journalLine
	if json.Unmarshal(line, &entry) != nil {
		return
	}
	switch {
	case entry.Ingress != nil:
		l.ingresses[snapshot.RefOf(entry.Ingress)] = entry.Ingress
	case entry.Deleted != nil:
		delete(l.ingresses, ofBefore(*entry.Deleted))
	case entry.Settings != nil:
		l.settings = entry.Settings
	case entry.NoSettings:
		l.settings = nil
	}
}

// ofBefore returns the object that a line of an earlier version names. It had no kind,
// because all objects were Ingresses.
func ofBefore(object model.ObjectRef) model.ObjectRef {
	if object.Kind == "" {
		return snapshot.IngressRef(nameOf(object))
	}
	return object
}

// form returns the last good form of an object, nil for none.
func (l *lastGood) form(object model.ObjectRef) quarantine.Form {
	return orNone(l.ingresses[object])
}

// withoutSecrets returns settings without keys that must not be on disk. These keys never
// fall back.
func withoutSecrets(cm *corev1.ConfigMap) *corev1.ConfigMap {
	clean := cm.DeepCopy()
	maps.DeleteFunc(clean.Data, func(key, _ string) bool { return settings.IsSecret(key) })
	return clean
}

// compact rewrites the file with one line for each object, completely or not at all.
func (l *lastGood) compact() error {
	var entries []journalLine
	for _, ing := range l.ingresses {
		entries = append(entries, journalLine{Ingress: ing})
	}
	if l.settings != nil {
		entries = append(entries, journalLine{Settings: withoutSecrets(l.settings)})
	}
	var written int64
	write := func(file *os.File) (err error) {
		written, err = writeLines(file, entries)
		return err
	}
	if err := nginx.ReplaceSynced(l.path, write, (*os.File).Sync); err != nil {
		return fmt.Errorf("write the last good forms: %w", err)
	}
	l.whole, l.size, l.torn = written, written, false
	return nil
}

// record remembers the served forms as good, except those whose paths return 503:
// nginx accepting such a form says nothing. It looks only at what changed.
func (l *lastGood) record(served *snapshot.Snapshot, denied map[model.ObjectRef]claim.Denial, inForce *corev1.ConfigMap) error {
	var entries []journalLine
	sameDenied := maps.Equal(l.denied, denied)
	for was, is := range paired(l.recorded, served.Ingresses(), snapshot.ByAge) {
		switch {
		case is == nil && served.IngressOf(snapshot.RefOf(was)) == nil:
			entries = append(entries, l.forget(snapshot.RefOf(was))...)
		case is != nil && (was != is || !sameDenied) && denied[snapshot.RefOf(is)] == 0:
			entries = append(entries, l.keep(is)...)
		}
	}
	if changed := inForce != l.settings; changed && inForce != nil {
		entries = append(entries, journalLine{Settings: withoutSecrets(inForce)})
	} else if changed {
		entries = append(entries, journalLine{NoSettings: true})
	}
	l.settings, l.recorded, l.denied = inForce, served.Ingresses(), denied
	return l.append(entries)
}

// keep remembers a form, and returns the line for it if its content changed.
func (l *lastGood) keep(ing *networkingv1.Ingress) []journalLine {
	object := snapshot.RefOf(ing)
	was := l.ingresses[object]
	l.ingresses[object] = ing
	if was != nil && sameContent(was, ing) {
		return nil
	}
	return []journalLine{{Ingress: ing}}
}

// forget drops the form of an object, and returns the line for it if there was one.
func (l *lastGood) forget(object model.ObjectRef) []journalLine {
	if l.ingresses[object] == nil {
		return nil
	}
	delete(l.ingresses, object)
	return []journalLine{{Deleted: &object}}
}

func (l *lastGood) append(entries []journalLine) error {
	if l.torn || l.size > journalGrowth*l.whole+journalSlack {
		return l.compact()
	}
	if len(entries) == 0 {
		return nil
	}
	l.torn = true // until everything is written
	file, err := os.OpenFile(filepath.Clean(l.path), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the last good forms: %w", err)
	}
	l.size, err = writeLines(file, entries)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the last good forms: %w", err)
	}
	l.torn = false
	if l.whole == 0 {
		l.whole = l.size // the first lines are also one for each object
	}
	return nil
}

// writeLines appends the lines and returns the size of the file.
func writeLines(file *os.File, entries []journalLine) (int64, error) {
	buffer := bufio.NewWriterSize(file, 1<<16)
	encoder := json.NewEncoder(buffer)
	for _, entry := range entries {
		if err := encoder.Encode(entry); err != nil {
			return 0, err
		}
	}
	if err := buffer.Flush(); err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
