package render

import (
	"cmp"
	"fmt"

	"sluice/internal/model"
)

const (
	// reservedFiles are not for requests of a worker; usualFiles is the minimum of a
	// worker.
	reservedFiles, usualFiles = 1024, 1024
	// mostConnections is also the maximum of the setting: nginx reserves some 400
	// bytes for each.
	mostConnections = 1 << 20
)

// sizeWorkers sets the limits of open files and connections of a worker.
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
				Text: fmt.Sprintf("want at most %d, the limit of this machine (got %d): that limit is used", most, asked.OpenFiles)})
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
