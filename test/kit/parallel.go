package kit

import (
	"flag"
	"runtime"
	"strconv"
	"sync"
)

// TwoTestsPerCore runs at most two parallel tests for each core, unless -parallel
// says otherwise. Most of the time, a test of the whole waits: for a reload, a
// time-out or the API server. It is for TestMain.
func TwoTestsPerCore() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // the flag is testing's own, and takes each number
	}
}

// Each calls do with each item of a list, workers of them at a time, and waits for all.
func Each[T any](list []T, workers int, do func(T)) {
	var group sync.WaitGroup
	next := make(chan T)
	for range workers {
		group.Go(func() {
			for item := range next {
				do(item)
			}
		})
	}
	for _, item := range list {
		next <- item
	}
	close(next)
	group.Wait()
}
