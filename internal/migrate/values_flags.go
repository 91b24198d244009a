package migrate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"sluice/charts"
	"sluice/internal/model"
)

// flagForm is the form that the values of some flags have.
type flagForm struct {
	Want    string   `json:"want"`
	Pattern string   `json:"pattern"`
	Flags   []string `json:"flags"`
}

// flagForms reads flags.yaml of the chart.
var flagForms = sync.OnceValue(func() (forms struct {
	Switches []string   `json:"switches"`
	Values   []flagForm `json:"values"`
}) {
	if err := yaml.Unmarshal(charts.Flags, &forms); err != nil {
		panic(err) // the file is part of this program
	}
	return forms
})

// FlagFault returns why no pod starts with a flag of controller.extraArgs, so that the chart
// refuses it; "" if one does. What the kubelet puts in for $(NAME) is not known.
func FlagFault(name, value string) string {
	if value == "" && slices.Contains(flagForms().Switches, name) {
		value = "true"
	}
	for _, form := range flagForms().Values {
		if slices.Contains(form.Flags, name) && !strings.Contains(value, "$(") && !regexp.MustCompile(form.Pattern).MatchString(value) {
			return fmt.Sprintf("want %s (got %s); no pod starts with another value", form.Want, model.Quoted(value))
		}
	}
	return ""
}
