package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// nginx would send a header of answers twice if two blocks of a location add it. A behaviour
// of its own, such as CORS, comes before response-headers and custom-headers.

// writer is a block that adds headers of answers: pairs of a header and the key of the
// annotation that asks for it.
type writer interface{ Writes() [][2]string }

// chosen is a block whose headers users choose.
type chosen interface {
	// Without returns the block without some headers, nil if nothing is left, and the names
	// of the headers that it had.
	Without(names []string) (data any, had []string)
}

// once returns the blocks of a claim with each header of answers only once.
func (b *builder) once(c *claim.Claim) []model.Block {
	blocks := c.Blocks()
	own := slices.IndexFunc(blocks, func(block model.Block) bool { _, is := block.Data.(chosen); return is })
	if own < 0 {
		return blocks
	}
	var names []string
	by := map[string]string{}
	for _, block := range blocks {
		if w, ok := block.Data.(writer); ok {
			for _, pair := range w.Writes() {
				names, by[pair[0]] = append(names, pair[0]), pair[1]
			}
		}
	}
	for _, header := range b.Settings.GlobalHeaders.Responses {
		names, by[header.Name] = append(names, header.Name), ""
	}
	data, had := blocks[own].Data.(chosen).Without(names)
	if len(had) == 0 {
		return blocks
	}
	for _, name := range had {
		b.remarkRepeated(c, name, by[name])
	}
	blocks = slices.Clone(blocks)
	if blocks[own].Data = data; data == nil {
		blocks = slices.Delete(blocks, own, own+1)
	}
	return blocks
}

// remarkRepeated reports a header that another annotation writes, or the policy of the settings
// if by is "". One of the Ingress that only single paths write has its effect at the others.
func (b *builder) remarkRepeated(c *claim.Claim, name, by string) {
	key, mend := "custom-headers", "take it out of the ConfigMap"
	for _, line := range c.Annotations.CustomHeaders.Lines {
		if strings.EqualFold(line.Name, name) {
			key, mend = "response-headers", "remove the line"
		}
	}
	prefix := c.Owner.PrefixKey
	field, writes := c.Annotations.Field(prefix, key), "the setting global-response-headers"
	if by != "" {
		writes = c.Annotations.Field(prefix, by)
	}
	if by != "" && field == annotations.FieldOf(prefix, key) && writes != annotations.FieldOf(prefix, by) {
		return
	}
	b.tellOnce(model.Problem{Object: c.Owner.Ref, Field: field, Reason: model.NoEffect, Text: fmt.Sprintf("it has no effect on %s, which %s writes: %s", name, writes, mend)})
}
