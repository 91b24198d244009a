package keys

import (
	"fmt"
	"math/bits"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Size is a number of bytes in nginx's syntax: digits, or digits and k or m. Equal
// sizes are equal texts: "1024k" and "1m" are both "1m". Gigabytes are stored in m,
// because most of nginx's directives do not accept g
// (https://nginx.org/en/docs/syntax.html). "" means no size; "0" is zero.
type Size string

var sizePattern = regexp.MustCompile(`^([0-9]{1,15})([bkmgBKMG]?)$`)

// maxSize is one pebibyte, so that nginx can compute with sizes in 64 bits.
const maxSize = 1 << 50

// UnmarshalText accepts digits with an optional suffix b, k, m or g in either case. It
// ignores spaces, as ingress-nginx does.
func (s *Size) UnmarshalText(text []byte) error {
	m := sizePattern.FindStringSubmatch(strings.ReplaceAll(string(text), " ", ""))
	if m == nil {
		return fmt.Errorf("%q is not a size", text)
	}
	n, err := strconv.ParseUint(m[1], 10, 64)
	if err != nil {
		return err
	}
	high, bytes := bits.Mul64(n, uint64(unit(m[2])))
	if high != 0 || bytes > maxSize {
		return fmt.Errorf("%q is more than 1048576g", text)
	}
	*s = SizeOf(int64(bytes))
	return nil
}

// Bytes returns the number of bytes of a size, 0 for no size.
func (s Size) Bytes() int64 {
	digits := strings.TrimRight(string(s), "km")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n * unit(string(s)[len(digits):])
}

// Larger returns the larger of two sizes.
func Larger(a, b Size) Size {
	if a.Bytes() < b.Bytes() {
		return b
	}
	return a
}

// sizeValue lets the rules min, max and ne see a Size as a number of bytes.
func sizeValue(v reflect.Value) any { return Size(v.String()).Bytes() }

func unit(suffix string) int64 {
	switch strings.ToLower(suffix) {
	case "k":
		return 1 << 10
	case "m":
		return 1 << 20
	case "g":
		return 1 << 30
	}
	return 1
}

// SizeOf returns the Size of a number of bytes.
func SizeOf(bytes int64) Size {
	switch {
	case bytes == 0:
		return "0"
	case bytes%(1<<20) == 0:
		return Size(strconv.FormatInt(bytes>>20, 10) + "m")
	case bytes%(1<<10) == 0:
		return Size(strconv.FormatInt(bytes>>10, 10) + "k")
	}
	return Size(strconv.FormatInt(bytes, 10))
}

// The smallest and largest size of a buffer, in bytes. nginx rejects less than its
// connection_pool_size. More than a gigabyte is probably a mistake, such as "8g" for "8k".
const (
	leastBuffer = 512
	mostBuffer  = 1 << 30
)

// Buffers is a number of buffers of one size, such as "4 8k".
type Buffers struct {
	Number int
	Size   Size
}

// UnmarshalText accepts a number from 1 to 1024 and a size from 512 to 1g.
func (b *Buffers) UnmarshalText(text []byte) error {
	words := strings.Fields(string(text))
	if len(words) != 2 {
		return fmt.Errorf("%q is not a number and a size", text)
	}
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	if err := b.Size.UnmarshalText([]byte(words[1])); err != nil {
		return err
	}
	if size := b.Size.Bytes(); n < 1 || n > 1024 || size < leastBuffer || size > mostBuffer {
		return fmt.Errorf("%q is out of range", text)
	}
	b.Number = n
	return nil
}
