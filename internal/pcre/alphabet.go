package pcre

import "slices"

// alphabet gives one byte for all those that two automata do not tell apart, a
// readable one if there is one.
func alphabet(automata ...*automaton) []byte {
	sets := map[set]bool{bytesOf("\n"): true}
	for _, a := range automata {
		for i := range a.states {
			if s := a.states[i].set; s != nil {
				sets[*s] = true
			}
		}
	}
	classes := [256]int{}
	count := 1
	for s := range sets {
		count = refine(&classes, &s)
	}
	chosen := make([]bool, count)
	var bytes []byte
	for _, c := range readable() {
		if class := classes[c]; !chosen[class] {
			chosen[class] = true
			bytes = append(bytes, c)
		}
	}
	return bytes
}

// refine splits each class by a set and gives the number of classes.
func refine(classes *[256]int, s *set) (count int) {
	numbers := map[[2]int]int{}
	for c := range classes {
		within := 0
		if s.has(byte(c)) {
			within = 1
		}
		key := [2]int{classes[c], within}
		if _, known := numbers[key]; !known {
			numbers[key] = len(numbers)
		}
		classes[c] = numbers[key]
	}
	return len(numbers)
}

// readable gives all bytes, those first that are best read in a message.
func readable() []byte {
	first := "abcdefghijklmnopqrstuvwxyz/0123456789-_.ABCDEFGHIJKLMNOPQRSTUVWXYZ~"
	bytes := []byte(first)
	for c := 0x20; c < 0x120; c++ {
		if b := byte(c); !slices.Contains(bytes[:len(first)], b) {
			bytes = append(bytes, b)
		}
	}
	return bytes
}
