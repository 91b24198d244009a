package decode

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"sluice/internal/snapshot"
)

// Whatever a manifest holds, and whoever makes the error, it is one short line.
func TestLinesAreShortAndPrintable(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{"a\nb", "\xff\xfe", "\u2028\u202e", strings.Repeat("a", 100_000), strings.Repeat("\n", 100_000)} {
		lines := []string{
			(&snapshot.DecodeError{File: hostile, Document: 1, Object: hostile, Field: hostile, Text: hostile}).Error(),
			snapshot.Note{File: hostile, Document: 1, Text: hostile}.String(),
		}
		for _, text := range []string{
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: %[1]q, namespace: %[1]q}, spec: {%[1]q: x}}",
			"{apiVersion: v1, kind: Namespace, metadata: {name: %q}}", "{apiVersion: v1, kind: %q}", "{apiVersion: %q, kind: Ingress}", "%q", "{a: %q",
		} {
			_, notes, faults := read(t, fmt.Sprintf(text, hostile))
			lines = append(append(lines, notes...), faults...)
		}
		if len(lines) < 8 {
			t.Errorf("only %d lines: %.300q", len(lines), lines)
		}
		for _, line := range lines {
			if len(line) > 3000 || !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%.300q, %d bytes", line, len(line))
			}
		}
	}
}

// The longest valid name is told in full.
func TestNamesAreToldInFull(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	name := strings.Join([]string{label, label, label, label[:61]}, ".")
	text := "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: " + name + ", namespace: " + label + "}, spec: {x: y}}"
	if _, _, faults := read(t, text); len(faults) == 0 || !strings.Contains(faults[0], "Ingress "+label+"/"+name+": spec.x: ") {
		t.Errorf("got %q", faults)
	}
}
