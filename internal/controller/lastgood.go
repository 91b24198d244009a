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

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/quarantine"
	"sluice/internal/snapshot"
)

// lastGood remembers, in memory and in a file, the form in which each Ingress
// (and the settings) last passed nginx's test, so that a restart with a bad
// Ingress present serves what was served before. The file is a journal of JSON
// lines of which the last about an object counts; it is written anew when it is
// opened and when it has grown, and holds no Secret.
type lastGood struct {
	path      string
	ingresses map[model.ObjectRef]*networkingv1.Ingress
	settings  *corev1.ConfigMap
	// recorded are the Ingresses of the last record, denied those of them whose
	// paths answer 503.
	recorded []*networkingv1.Ingress
	denied   map[model.ObjectRef]claim.Denial
	// whole and size are the bytes of the file when it was written anew and
	// now. torn is set if it may lack lines: it is then written anew.
	whole, size int64
	torn        bool
}

// The file is written anew when it is journalGrowth times as large as it was,
// and journalSlack bytes besides.
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

// openLastGood reads the journal. A line that does not parse (a write that was
// cut short) is passed over.
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

// ofBefore gives the object that a line of an earlier version names: it had no kind, as
// all were Ingresses.
func ofBefore(object model.ObjectRef) model.ObjectRef {
	if object.Kind == "" {
		object.Kind = "Ingress"
	}
	return object
}

// form gives the last good form of an object, nil for none.
func (l *lastGood) form(object model.ObjectRef) quarantine.Form {
	return orNone(l.ingresses[object])
}

// compact writes the file anew with one line an object, whole or not at all.
func (l *lastGood) compact() error {
	var entries []journalLine
	for _, ing := range l.ingresses {
		entries = append(entries, journalLine{Ingress: ing})
	}
	if l.settings != nil {
		entries = append(entries, journalLine{Settings: l.settings})
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

// record takes what nginx now runs as good, but for forms whose paths answer 503:
// that nginx takes these says nothing. Only what differs from before is looked at.
func (l *lastGood) record(served *snapshot.Snapshot, denied map[model.ObjectRef]claim.Denial, settings *corev1.ConfigMap) error {
	var entries []journalLine
	for _, ing := range l.unrecorded(served.Ingresses(), denied) {
		object := snapshot.RefOf(ing)
		was := l.ingresses[object]
		if was == ing || denied[object] != 0 {
			continue
		}
		l.ingresses[object] = ing
		if was == nil || !sameContent(was, ing) {
			entries = append(entries, journalLine{Ingress: ing})
		}
	}
	for _, object := range l.gone(served) {
		delete(l.ingresses, object)
		entries = append(entries, journalLine{Deleted: &object})
	}
	if changed := settings != l.settings; changed && settings != nil {
		entries = append(entries, journalLine{Settings: settings})
	} else if changed {
		entries = append(entries, journalLine{NoSettings: true})
	}
	l.settings, l.recorded, l.denied = settings, served.Ingresses(), denied
	return l.append(entries)
}

// unrecorded gives the Ingresses that were not recorded in this form: those that
// the list before lacks, and all if others are denied than before.
func (l *lastGood) unrecorded(now []*networkingv1.Ingress, denied map[model.ObjectRef]claim.Denial) []*networkingv1.Ingress {
	if !maps.Equal(l.denied, denied) {
		return now
	}
	return notIn(l.recorded, now)
}

// gone gives the Ingresses that are kept and not there any more.
func (l *lastGood) gone(served *snapshot.Snapshot) []model.ObjectRef {
	var objects []model.ObjectRef
	check := func(object model.ObjectRef) {
		if l.ingresses[object] != nil && served.Ingress(nameOf(object)) == nil {
			objects = append(objects, object)
		}
	}
	if l.recorded == nil { // what is kept was read from the file
		for object := range l.ingresses {
			check(object)
		}
		return objects
	}
	for _, ing := range notIn(served.Ingresses(), l.recorded) {
		check(snapshot.RefOf(ing))
	}
	return objects
}

// notIn gives the Ingresses of now that before lacks; both are as a Snapshot has
// them.
func notIn(before, now []*networkingv1.Ingress) []*networkingv1.Ingress {
	var found []*networkingv1.Ingress
	for _, ing := range now {
		for len(before) > 0 && before[0] != ing && snapshot.Older(before[0], ing) {
			before = before[1:]
		}
		if len(before) > 0 && before[0] == ing {
			before = before[1:]
			continue
		}
		found = append(found, ing)
	}
	return found
}

func (l *lastGood) append(entries []journalLine) error {
	if l.torn || l.size > journalGrowth*l.whole+journalSlack {
		return l.compact()
	}
	if len(entries) == 0 {
		return nil
	}
	l.torn = true // until all of it is written
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
		l.whole = l.size // the first lines are one an object, too
	}
	return nil
}

// writeLines gives the number of bytes that the file has then.
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
