package lint

import (
	"sluice/internal/annotations"
	"sluice/internal/assemble"
	"sluice/internal/model"
	"sluice/internal/translate"
)

// Reasons are those that a finding may have.
var Reasons = []model.Reason{
	model.InvalidValue, model.NotFound, model.Conflict, model.Unsupported, model.Unread, model.Shadowed, model.Ambiguous, model.NotDelegated,
	model.CrossNamespace, model.NoEffect, model.NoRoom, model.Refused, model.Untested, annotations.Foreign,
	assemble.Turned, assemble.Rewritten, translate.Unserved, translate.NearClass, translate.OtherClass, assemble.SharedHost, assemble.Repeated,
	assemble.Star, assemble.Groupless, translate.Unslashed,
	ToBeIssued, Several, Unreadable, Empty, Unwatched, Unlabelled, Uncompared,
}
