package controller

import (
	"slices"
	"testing"
)

// pairwise chooses rows with one value for each dimension, of which sizes has the number of
// values: any two values of two dimensions are together in at least one row. It is greedy.
func pairwise(sizes ...int) (rows [][]int) {
	type pair struct{ first, value, second, other int }
	missing := map[pair]bool{}
	var order []pair
	for first := range sizes {
		for second := first + 1; second < len(sizes); second++ {
			for value := range sizes[first] {
				for other := range sizes[second] {
					p := pair{first, value, second, other}
					missing[p], order = true, append(order, p)
				}
			}
		}
	}
	of := func(a, x, b, y int) pair {
		if a > b {
			a, x, b, y = b, y, a, x
		}
		return pair{a, x, b, y}
	}
	for _, next := range order {
		if !missing[next] {
			continue
		}
		row := slices.Repeat([]int{-1}, len(sizes))
		row[next.first], row[next.second] = next.value, next.other
		for at := range row {
			for offset, most := 0, -1; row[at] < 0 || offset < sizes[at] && at != next.first && at != next.second; offset++ {
				value, covers := (len(rows)+offset)%sizes[at], 0
				for with, chosen := range row {
					if with != at && chosen >= 0 && missing[of(at, value, with, chosen)] {
						covers++
					}
				}
				if covers > most {
					most, row[at] = covers, value
				}
			}
		}
		for a := range row {
			for b := a + 1; b < len(row); b++ {
				delete(missing, pair{a, row[a], b, row[b]})
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func TestPairwise(t *testing.T) {
	t.Parallel()
	sizes := []int{5, 3, 2, 4}
	rows := pairwise(sizes...)
	for a := range sizes {
		for b := range a {
			for x := range sizes[a] {
				for y := range sizes[b] {
					if !slices.ContainsFunc(rows, func(row []int) bool { return row[a] == x && row[b] == y }) {
						t.Errorf("%d of %d is never with %d of %d", x, a, y, b)
					}
				}
			}
		}
	}
	if len(rows) > 26 {
		t.Errorf("%d rows", len(rows))
	}
}
