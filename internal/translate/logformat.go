package translate

import (
	"sluice/internal/model"
)

// textFormat is the access-log-format whose lines log-format-upstream describes.
const textFormat = "text"

// noteLogFormat notes whether an Ingress has access logs of the format text.
func (t *translation) noteLogFormat(ing *owner) {
	if t.textLog || t.settings.Log.AccessFormat == textFormat {
		return
	}
	for each := range ing.Annotations.Each() {
		t.textLog = t.textLog || each.Logs.Format == textFormat
	}
}

// remarkLogFormat reports settings of the format text if no access log has it.
func (t *translation) remarkLogFormat() {
	format := t.settings.Log.AccessFormat
	if t.textLog || format == textFormat {
		return
	}
	for _, key := range []string{"log-format-upstream", "log-format-escape-json", "log-format-escape-none"} {
		object, given := t.settings.Origin(key)
		if text, _ := t.settings.Value(key); given && text != "" && text != "false" {
			t.report(model.Problem{Object: object, Field: key, Reason: model.NoEffect,
				Text: "it has no effect beside access-log-format: " + format + ", as no Ingress has access-log-format: " + textFormat})
		}
	}
}
