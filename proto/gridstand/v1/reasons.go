// Package gridstandv1 is the contract: what programs and servers say to each
// other. The .proto files beside it are its manual.
package gridstandv1

// ErrorDomain is the domain of every google.rpc.ErrorInfo that a server sends.
const ErrorDomain = "gridstand"

// The reasons of google.rpc.ErrorInfo. What each means, and the code that it
// comes with, stands at the calls in the .proto files.
const (
	ReasonVersionConflict    = "VERSION_CONFLICT"
	ReasonIllegalMove        = "ILLEGAL_MOVE"
	ReasonNotYourTurn        = "NOT_YOUR_TURN"
	ReasonGameOver           = "GAME_OVER"
	ReasonGameNotStarted     = "GAME_NOT_STARTED"
	ReasonUndoNotAllowed     = "UNDO_NOT_ALLOWED"
	ReasonSeatTaken          = "SEAT_TAKEN"
	ReasonNameTaken          = "NAME_TAKEN"
	ReasonGameNotFound       = "GAME_NOT_FOUND"
	ReasonPlayerNotFound     = "PLAYER_NOT_FOUND"
	ReasonVariantNotFound    = "VARIANT_NOT_FOUND"
	ReasonNoScore            = "NO_SCORE"
	ReasonNotSeated          = "NOT_SEATED"
	ReasonBadToken           = "BAD_TOKEN"
	ReasonBadCredential      = "BAD_CREDENTIAL"
	ReasonNotOverSSH         = "NOT_OVER_SSH"
	ReasonKeyNotLinked       = "KEY_NOT_LINKED"
	ReasonKeyTaken           = "KEY_TAKEN"
	ReasonKeyNotFound        = "KEY_NOT_FOUND"
	ReasonTooManyKeys        = "TOO_MANY_KEYS"
	ReasonRateLimited        = "RATE_LIMITED"
	ReasonTooManyGames       = "TOO_MANY_GAMES"
	ReasonGameDamaged        = "GAME_DAMAGED"
	ReasonServerUnavailable  = "SERVER_UNAVAILABLE"
	ReasonStorageUnavailable = "STORAGE_UNAVAILABLE"
)
