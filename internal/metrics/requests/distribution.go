package requests

import (
	"maps"
	"math"
	"slices"
	"sort"

	dto "github.com/prometheus/client_model/go"
)

// distribution is a histogram.
type distribution struct {
	count uint64
	sum   float64
	// buckets has the number of values of each bucket, and of those above the last bound.
	buckets []uint64
	// native has the number of values by the index of a native bucket, of schema; zeros are
	// in none. narrowed is how often two buckets were made one since.
	native   map[int]uint64
	zeros    uint64
	narrowed int32
	// exemplars has one request for each bucket, nil without any.
	exemplars []exemplar
}

var infinite = math.Inf(1)

// add adds a value n times.
func (d *distribution) add(value float64, n uint64, f family) {
	if d.buckets == nil {
		d.buckets = make([]uint64, len(f.bounds)+1)
	}
	d.count += n
	d.sum += value * float64(n)
	d.buckets[sort.SearchFloat64s(f.bounds, value)] += n
	if f.native {
		d.addNative(value, n, f)
	}
}

func (d *distribution) addNative(value float64, n uint64, f family) {
	if value <= 0 {
		d.zeros += n
		return
	}
	if d.native == nil {
		d.native = map[int]uint64{}
	}
	d.native[bucketOf(value, f.schema-d.narrowed)] += n
	for f.most > 0 && len(d.native) > f.most && f.schema-d.narrowed > lowestSchema {
		d.narrow()
	}
}

// narrow makes each two native buckets one.
func (d *distribution) narrow() {
	merged := make(map[int]uint64, len(d.native)/2+1)
	for at, n := range d.native {
		merged[int(math.Ceil(float64(at)/2))] += n
	}
	d.native, d.narrowed = merged, d.narrowed+1
}

// The schemas of native histograms. A schema n has 2^n buckets for each power of two.
// Source: https://prometheus.io/docs/specs/native_histograms/#schema
const lowestSchema, highestSchema = -4, 8

// schemaOf returns the coarsest schema whose buckets grow by factor at most.
func schemaOf(factor float64) int32 {
	wanted := -math.Floor(math.Log2(math.Log2(factor)))
	return int32(min(max(wanted, lowestSchema), highestSchema))
}

// bucketOf returns the index of the native bucket of a value greater than 0: the smallest i
// for which the value is at most 2^(i * 2^-schema).
func bucketOf(value float64, schema int32) int {
	return int(math.Ceil(math.Log2(value) * math.Exp2(float64(schema))))
}

// zeroThreshold is the upper bound of the bucket for zero: less than any value.
const zeroThreshold = 0x1p-128

// print returns the histogram for clients.
func (d *distribution) print(f family) *dto.Histogram {
	total, sum := d.count, d.sum
	out := &dto.Histogram{SampleCount: &total, SampleSum: &sum, Bucket: make([]*dto.Bucket, len(f.bounds))}
	buckets, counts := make([]dto.Bucket, len(f.bounds)), make([]uint64, len(f.bounds))
	reached := uint64(0)
	for i := range f.bounds {
		reached += d.buckets[i]
		counts[i] = reached
		buckets[i].CumulativeCount, buckets[i].UpperBound = &counts[i], &f.bounds[i]
		out.Bucket[i] = &buckets[i]
	}
	d.printExemplars(out)
	if f.native {
		d.printNative(out, f.schema-d.narrowed)
	}
	return out
}

// mostFilled is the longest gap between native buckets that is filled with empty ones, as
// Prometheus' own encoder does.
const mostFilled = 2

// printNative adds the native buckets: spans of indices that follow each other, and for each
// index by how much its number differs from that of the one before.
func (d *distribution) printNative(out *dto.Histogram, schema int32) {
	threshold, zeros := zeroThreshold, d.zeros
	out.Schema, out.ZeroThreshold, out.ZeroCount = &schema, &threshold, &zeros
	var next int
	var before uint64
	add := func(n uint64) {
		*out.PositiveSpan[len(out.PositiveSpan)-1].Length++
		out.PositiveDelta = append(out.PositiveDelta, int64(n)-int64(before))
		before = n
	}
	for i, at := range slices.Sorted(maps.Keys(d.native)) {
		gap := int32(at - next)
		if i == 0 || gap > mostFilled {
			out.PositiveSpan = append(out.PositiveSpan, &dto.BucketSpan{Offset: &gap, Length: new(uint32)})
		} else {
			for range gap {
				add(0)
			}
		}
		add(d.native[at])
		next = at + 1
	}
}
