package keys

import "strings"

// AnnotationLines are annotations in lines such as "proxy-read-timeout: 30". Package
// annotations reads the lines.
type AnnotationLines string

// UnmarshalText accepts every text without control characters.
func (a *AnnotationLines) UnmarshalText(text []byte) error {
	for line := range strings.Lines(string(text)) {
		if !printable(strings.TrimSpace(line)) {
			return errControl
		}
	}
	*a = AnnotationLines(text)
	return nil
}
