package guard

import (
	"fmt"
	"testing"

	"sluice/internal/model"
)

// BenchmarkCheckLargeHost checks a host with thousands of paths of two owners.
func BenchmarkCheckLargeHost(b *testing.B) {
	var asked Asked
	var locations []*model.Location
	for i := range 4000 {
		field, path := fmt.Sprint(i), fmt.Sprintf("/a/%d/b", i)
		asked.Claims = append(asked.Claims, protecting(field, "Prefix", path), plain("x"+field, "Prefix", "/x"+path))
		locations = append(locations, listed(at(mine, field, "=", path)), listed(at(mine, field, "^~", path+"/")), at(theirs, "x"+field, "^~", "/x"+path+"/"))
	}
	for b.Loop() {
		if open := Check(asked, locations, nil); len(open) > 0 {
			b.Fatal(open[0])
		}
	}
}
