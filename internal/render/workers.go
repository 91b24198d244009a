package render

import (
	"cmp"
	"fmt"

	"sluice/internal/model"
)

const (
	// reservedFiles are open for something else than the requests of a worker,
	// and usualFiles is what a worker has at least.
	reservedFiles, usualFiles = 1024, 1024
	// mostConnections is the most that the setting may be, too: nginx takes some
	// 400 bytes for each before it is used.
	mostConnections = 1 << 20
)

// sizeWorkers says how many files and connections a worker may have open.
func (r *rendering) sizeWorkers() {
	asked := r.global.Workers
	files, most := asked.OpenFiles, r.env.MostOpenFiles
	if files == 0 && r.env.OpenFiles > 0 {
		files = max(r.env.OpenFiles-reservedFiles, usualFiles)
	}
	if most > 0 && files > most {
		files = most
		if asked.OpenFiles > 0 {
			r.problems = append(r.problems, model.Problem{Object: r.workersSource(), Field: "max-worker-open-files", Reason: model.Unsupported,
				Text: fmt.Sprintf("want at most %d, which is the most that nginx may have open here (got %d): that many are used", most, asked.OpenFiles)})
		}
	}
	r.view.OpenFiles, r.view.Connections = files, asked.Connections
	if asked.Connections == 0 {
		r.view.Connections = min(cmp.Or(files, usualFiles)/4*3, mostConnections)
	}
}

// workersSource is the object that the settings of workers come from.
func (r *rendering) workersSource() model.ObjectRef {
	if b := findBlock(r.global.blocks, "workers"); b != nil {
		return b.Source
	}
	return model.ObjectRef{}
}
