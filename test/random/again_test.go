package random

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/test/kit"
	"sluice/test/recorded"
)

// TestTheOrderOfCreationDecidesNothing: ages say which Ingress is older. In which order objects
// came to be known, and what was served before, changes neither the configuration nor the
// Problems.
func TestTheOrderOfCreationDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, scenarios := range recorded.Groups(t, recorded.Read(t)) {
		files, worlds := recorded.Files(t, scenarios)
		for i, s := range scenarios {
			objects := objectsOf(worlds[s.Name], files)
			first := newWorld(worlds[s.Name], objects)
			want := asBytes(t, first)
			shuffle(&objects, rand.New(rand.NewPCG(uint64(i), 1)))
			if got := asBytes(t, newWorld(worlds[s.Name], objects)); !bytes.Equal(got, want) {
				t.Errorf("%s: in another order it is another configuration:\n%s\n%s", s.Name, want, got)
			}
			memo := &translate.Memo{}
			snap, _ := snapshot.New(objectsOf(worlds[scenarios[0].Name], files))
			translate.Config(snap, first.core.Options, memo)
			if config, problems := translate.Config(first.core.Snapshot, first.core.Options, memo); !reflect.DeepEqual(config, first.core.Config) || !reflect.DeepEqual(problems, first.problems) {
				t.Errorf("%s: after another world it is another configuration", s.Name)
			}
		}
	}
}

// asBytes are the configuration and the Problems of a world.
func asBytes(t *testing.T, w *world) []byte {
	t.Helper()
	text, err := json.Marshal([]any{w.core.Config, w.problems})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// shuffle changes the order of each list of objects.
func shuffle(o *snapshot.Objects, random *rand.Rand) {
	lists := reflect.ValueOf(o).Elem()
	for i := range lists.NumField() {
		if list := lists.Field(i); list.Kind() == reflect.Slice {
			random.Shuffle(list.Len(), reflect.Swapper(list.Interface()))
		}
	}
}

// TestAnswersStayAfterARestart asks some requests of each world that is served with many others,
// before and after Sluice ends and starts again with the state that it left.
func TestAnswersStayAfterARestart(t *testing.T) {
	t.Parallel()
	best, err := kit.BestNginx()
	if err != nil {
		t.Fatal(err)
	}
	const many, every = 20, 7
	for name, scenarios := range recorded.Groups(t, recorded.Read(t)) {
		if len(scenarios) < many {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, worlds := recorded.Files(t, scenarios)
			server := recorded.Start(t, best.Root, files, recorded.Flags(scenarios, worlds))
			var before []*asked
			for _, s := range scenarios {
				w := &world{World: worlds[s.Name]}
				w.In(t)
				for i := len(before) % every; i < len(w.Requests); i += every {
					before = append(before, &asked{world: w, index: i, want: w.Ask(server, i, recorded.Answer{})})
				}
			}
			server.Restart(t)
			for _, a := range before {
				a.got = a.world.Ask(server, a.index, recorded.Answer{})
				if differences := a.differences(); len(differences) > 0 {
					t.Errorf("%s is answered in another way after a restart:\n\t%s", a.world.Question(a.index), strings.Join(differences, "\n\t"))
				}
			}
			if len(before) < many {
				t.Errorf("only %d requests were asked", len(before))
			}
		})
	}
}
