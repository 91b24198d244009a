package lint

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/syntax"
	"sluice/internal/translate"
)

// Disk is the reason for a file or folder that nginx cannot write, and for a cache that can
// outgrow its folder.
const Disk model.Reason = "Disk"

// ChartFolders are the folders to which the pods of Sluice's chart can write by default. The
// last one holds the state.
var ChartFolders = []snapshot.Folder{
	{Path: "/var/cache/nginx", Limit: 1 << 30, Empty: true}, {Path: "/tmp", Limit: 256 << 20, Empty: true}, {Path: stateFolder, Limit: 1 << 30, Empty: true},
}

// stateFolder has the files of Sluice, and sharedMemory is in each container.
const (
	stateFolder  = "/var/lib/sluice"
	sharedMemory = "/dev/shm"
)

// LimitValues are the values of the chart that set the limits of its folders.
var LimitValues = map[string]string{"/var/cache/nginx": "cacheSizeLimit", "/tmp": "tmpSizeLimit", stateFolder: "stateSizeLimit"}

// volumesOfChart says where the chart takes further volumes.
const volumesOfChart = " (controller.extraVolumes and extraVolumeMounts of the chart)"

// disk holds the folders to which a controller can write, and the sizes of the caches in them.
type disk struct {
	folders []snapshot.Folder
	// by is the Deployment that has the folders; nil for the defaults of the chart.
	by *model.ObjectRef
	// sizes has the sum of the sizes of the caches found so far, by folder.
	sizes map[string]int64
}

// diskOf returns the folders of the controllers among the manifests. Without a Sluice among them
// it adds the folders of the chart, which also replaces an ingress-nginx.
func diskOf(notes []snapshot.Note) *disk {
	d := &disk{folders: []snapshot.Folder{{Path: sharedMemory}}, sizes: map[string]int64{}}
	for _, n := range notes {
		d.folders = append(d.folders, n.Folders...)
		if n.IsSluice && d.by == nil {
			ref := ParseRef(n.Object)
			d.by = &ref
		}
	}
	if d.by == nil {
		d.folders = append(d.folders, ChartFolders...)
	}
	return d
}

// writable returns the folder that holds a path, and whether there is one. Relative paths are
// below the folder of the state.
func (d *disk) writable(file string) (found snapshot.Folder, is bool) {
	if !path.IsAbs(file) {
		file = path.Join(stateFolder, file)
	}
	file = path.Clean(file)
	for _, f := range d.folders {
		below := file == f.Path || strings.HasPrefix(file, strings.TrimSuffix(f.Path, "/")+"/")
		if below && (!is || len(f.Path) > len(found.Path)) {
			found, is = f, true
		}
	}
	return found, is
}

// choice lists the writable folders for a message.
func (d *disk) choice() string {
	var names []string
	for _, f := range d.folders {
		name := f.Path
		if f.Limit > 0 {
			name += " (" + quantity(f.Limit) + ")"
		}
		if f.Path != stateFolder && f.Path != sharedMemory && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "a volume" + volumesOfChart
	}
	return model.OneOf(names) + ", the folders of " + d.owner("the chart")
}

// owner names the Deployment that has the folders; otherwise is the name if there is none.
func (d *disk) owner(otherwise string) string {
	if d.by == nil {
		return otherwise
	}
	return d.by.String()
}

// limit names the source of a folder's limit.
func (d *disk) limit(f snapshot.Folder) string {
	value := LimitValues[f.Path]
	switch {
	case d.by != nil || value == "":
		return d.owner("the values")
	case slices.ContainsFunc(ChartFolders, func(of snapshot.Folder) bool { return of.Path == f.Path && of.Limit == f.Limit }):
		return "the defaults of the chart (controller." + value + ")"
	}
	return "the values (controller." + value + ")"
}

// quantity prints a number of bytes as Kubernetes does.
func quantity(bytes int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "Gi"}, {1 << 20, "Mi"}, {1 << 10, "Ki"}} {
		if bytes%unit.size == 0 {
			return fmt.Sprint(bytes/unit.size) + unit.name
		}
	}
	return fmt.Sprint(bytes)
}

// unwritable reports the files of the settings and of the snippets of served Ingresses that
// nginx cannot write. told are the Problems of these objects so far.
func (d *disk) unwritable(snap *snapshot.Snapshot, o translate.Options, told []model.Problem) []model.Problem {
	var found []model.Problem
	add := func(ref model.ObjectRef, field string, texts []string) {
		wrong := func(p model.Problem) bool { return p.Object == ref && p.Field == field && SeverityOf(p) == Error }
		if len(texts) > 0 && !slices.ContainsFunc(told, wrong) {
			for _, text := range texts {
				found = append(found, model.Problem{Object: ref, Field: field, Reason: Disk, Text: text})
			}
		}
	}
	if object := snap.ConfigMap(o.ConfigMap); object != nil {
		for _, key := range slices.Sorted(maps.Keys(object.Data)) {
			add(model.ObjectRef{Kind: "ConfigMap", Namespace: object.Namespace, Name: object.Name}, key, d.ofSetting(key, object.Data[key]))
		}
	}
	for _, object := range snap.Ingresses() {
		if ours, _ := translate.Accepts(snap, o, object); !ours {
			continue
		}
		for _, name := range []string{"auth-snippet", "configuration-snippet", "server-snippet", "stream-snippet"} {
			field := o.AnnotationsPrefix + "/" + name
			add(snapshot.RefOf(object), field, d.ofSnippet(object.Annotations[field]))
		}
	}
	return found
}

// ofSetting returns what is wrong with the files of a setting.
func (d *disk) ofSetting(key, value string) []string {
	switch key = strings.ToLower(key); {
	case strings.HasSuffix(key, "-snippet"):
		return d.ofSnippet(value)
	case strings.HasSuffix(key, "-log-path"):
		output := "/dev/stdout"
		if key == "error-log-path" {
			output = "/dev/stderr"
		}
		if wrong := d.ofLog(strings.TrimSpace(value), output); wrong != "" {
			return []string{wrong}
		}
	}
	return nil
}

// ofSnippet returns what is wrong with the files that a snippet names. Another Problem is about
// a text that is no snippet.
func (d *disk) ofSnippet(text string) (found []string) {
	statements, err := syntax.Parse([]byte(text))
	if err != nil {
		return nil
	}
	for _, s := range statements {
		if len(s.Tokens) < 2 {
			continue
		}
		if wrong := d.ofDirective(s); wrong != "" {
			found = append(found, fmt.Sprintf("line %d: %s %s", s.Line, model.Quoted(s.Name()), wrong))
		}
	}
	return found
}

// ofDirective returns what is wrong with the file or folder that a directive names, "" for
// nothing, as the rest of a line that begins with the directive.
func (d *disk) ofDirective(s syntax.Statement) string {
	name, file := s.Name(), s.Tokens[1]
	switch {
	case strings.HasSuffix(name, "_cache_path"):
		return cmp.Or(d.ofFolder(file), d.ofCache(s))
	case strings.HasSuffix(name, "_temp_path"):
		return d.ofFolder(file)
	case name == "access_log":
		return d.ofLog(file, "/dev/stdout")
	case name == "error_log":
		return d.ofLog(file, "stderr")
	case strings.HasSuffix(name, "_store") && file != "on" && file != "off":
		literal, _, _ := strings.Cut(file, "$")
		if _, is := d.writable(literal); !is && literal != "" {
			return file + ": nginx cannot write there: want a file below " + d.choice()
		}
	}
	return ""
}

// ofFolder judges a folder that nginx makes, without those around it.
func (d *disk) ofFolder(file string) string {
	folder, is := d.writable(file)
	around := path.Dir(path.Clean(file))
	switch {
	case !is:
		return file + ": nginx cannot write there: want a folder directly below " + d.choice()
	case folder.Empty && path.IsAbs(file) && folder.Path != stateFolder && path.Clean(file) != folder.Path && around != folder.Path:
		return file + ": nginx does not make " + around + ": want a folder directly below " + d.choice()
	}
	return ""
}

// ofLog judges the file of a log. nginx opens it when it starts, unless its name has a
// variable. output is the stream to suggest instead.
func (d *disk) ofLog(file, output string) string {
	literal, _, _ := strings.Cut(file, "$")
	folder := path.Dir(literal)
	isStream := strings.HasPrefix(literal, "/dev/") || strings.HasPrefix(literal, "/proc/")
	if _, is := d.writable(folder); is || isStream || !path.IsAbs(literal) {
		return ""
	}
	return file + ": nginx cannot write there: want " + output + ", or a volume at " + folder + volumesOfChart
}

// ofCache judges the size of a cache.
func (d *disk) ofCache(s syntax.Statement) string {
	folder, _ := d.writable(s.Tokens[1])
	var size keys.Size
	for _, token := range s.Tokens[2:] {
		if text, is := strings.CutPrefix(token, "max_size="); is && size.UnmarshalText([]byte(text)) != nil {
			return "" // nginx refuses it
		}
	}
	sum := d.sizes[folder.Path] + size.Bytes()
	switch d.sizes[folder.Path] = sum; {
	case size == "" && folder.Limit == 0:
		return s.Tokens[1] + ": want max_size, such as max_size=64m: the cache would grow until its disk is full"
	case size == "":
		return fmt.Sprintf("%s: want max_size, such as max_size=64m: the cache would grow until the kubelet ends the pod, as %s may hold %s by %s", s.Tokens[1], folder.Path, quantity(folder.Limit), d.limit(folder))
	case folder.Limit > 0 && sum >= folder.Limit:
		return fmt.Sprintf("%s: want max_size of less than %s for all caches in %s together (got %s): nginx removes files only once a cache has outgrown it, and the kubelet ends a pod that exceeds the limit, which is that of %s",
			s.Tokens[1], quantity(folder.Limit), folder.Path, strings.ToLower(strings.TrimSuffix(quantity(sum), "i")), d.limit(folder))
	}
	return ""
}
