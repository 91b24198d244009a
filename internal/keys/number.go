package keys

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Optional is a value that may be missing: "" means missing, and any other text is
// the value. Use it for fields in which false and 0 must differ from a missing value,
// so that they override an inherited one. The rules min and max see a number.
type Optional[T bool | int] string

// Some returns the Optional of a value.
func Some[T bool | int](value T) Optional[T] { return Optional[T](fmt.Sprint(value)) }

// UnmarshalText accepts the syntax of strconv.
func (o *Optional[T]) UnmarshalText(text []byte) error {
	value, err := o.parse(string(text))
	*o = Some(value)
	return err
}

func (o *Optional[T]) parse(text string) (value T, err error) {
	switch v := any(&value).(type) {
	case *bool:
		*v, err = strconv.ParseBool(text)
	case *int:
		*v, err = strconv.Atoi(text)
	}
	return value, err
}

// optionalNumber lets the rules min and max see a number.
func optionalNumber(v reflect.Value) any {
	n, err := strconv.Atoi(v.String())
	if err != nil {
		return nil
	}
	return n
}

// Auto is a whole number of at least 1, or 0 for "auto".
type Auto int

// UnmarshalText accepts "auto" and a number from 1 to 1024.
func (a *Auto) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*a = 0
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err == nil && (n < 1 || n > 1024) {
		err = fmt.Errorf("%d is not from 1 to 1024", n)
	}
	*a = Auto(n)
	return err
}

// Duration is a time as nginx writes it, held as seconds: "3600s". Equal
// durations are equal texts. "" is no duration.
type Duration string

// Units come from large to small, each at most once.
// Source: https://nginx.org/en/docs/syntax.html; a month has 30 days there.
var durationPattern = regexp.MustCompile(`^(?:(\d{1,9})y)? ?(?:(\d{1,9})M)? ?(?:(\d{1,9})w)? ?(?:(\d{1,9})d)? ?(?:(\d{1,9})h)? ?(?:(\d{1,9})m)? ?(?:(\d{1,9})s?)?$`)

var durationUnits = []int{365 * 86400, 30 * 86400, 7 * 86400, 86400, 3600, 60, 1}

// maxSeconds is ten years; nginx counts milliseconds.
const maxSeconds = 10 * 365 * 86400

// UnmarshalText accepts nginx's form without milliseconds, such as "90", "90s"
// and "1h 30m".
func (d *Duration) UnmarshalText(text []byte) error {
	m := durationPattern.FindStringSubmatch(string(text))
	if m == nil || len(text) == 0 {
		return fmt.Errorf("%q is not a time", text)
	}
	seconds := 0
	for i, u := range durationUnits {
		n, err := strconv.Atoi("0" + m[i+1])
		if err != nil || n > maxSeconds/u {
			return errors.New("more than ten years")
		}
		seconds += n * u
	}
	if seconds > maxSeconds {
		return errors.New("more than ten years")
	}
	*d = Duration(strconv.Itoa(seconds) + "s")
	return nil
}

// durationValue lets the rules min and max see a Duration as seconds.
func durationValue(v reflect.Value) any { return int(Duration(v.String()).Time() / time.Second) }

// Time returns the time.Duration, 0 for no duration.
func (d Duration) Time() time.Duration {
	n, err := strconv.Atoi(strings.TrimSuffix(string(d), "s"))
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
