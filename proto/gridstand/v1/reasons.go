// Package gridstandv1 is the contract between programs and servers. The .proto files in
// this directory document it.
package gridstandv1

// ErrorDomain is the domain of every google.rpc.ErrorInfo from a server.
const ErrorDomain = "gridstand"

// TimeHeader is the header, of successful answers by gRPC to calls other than streams, that has the
// server's time as in RFC 3339. Answers by HTTP/1.1 have the seconds in the header Date.
const TimeHeader = "gridstand-time"

// The values of the reason field of google.rpc.ErrorInfo. For each call, the .proto files
// document what the reasons mean and which status codes they come with.
const (
	ReasonVersionConflict     = "VERSION_CONFLICT"
	ReasonIllegalMove         = "ILLEGAL_MOVE"
	ReasonNotYourTurn         = "NOT_YOUR_TURN"
	ReasonGameOver            = "GAME_OVER"
	ReasonGameNotStarted      = "GAME_NOT_STARTED"
	ReasonGameTooLong         = "GAME_TOO_LONG"
	ReasonUndoNotAllowed      = "UNDO_NOT_ALLOWED"
	ReasonSeatTaken           = "SEAT_TAKEN"
	ReasonNameTaken           = "NAME_TAKEN"
	ReasonGameNotFound        = "GAME_NOT_FOUND"
	ReasonPlayerNotFound      = "PLAYER_NOT_FOUND"
	ReasonVariantNotFound     = "VARIANT_NOT_FOUND"
	ReasonNoScore             = "NO_SCORE"
	ReasonNotSeated           = "NOT_SEATED"
	ReasonBadToken            = "BAD_TOKEN"
	ReasonBadCredential       = "BAD_CREDENTIAL"
	ReasonNotOverSSH          = "NOT_OVER_SSH"
	ReasonKeyNotLinked        = "KEY_NOT_LINKED"
	ReasonKeyTaken            = "KEY_TAKEN"
	ReasonKeyNotFound         = "KEY_NOT_FOUND"
	ReasonTooManyKeys         = "TOO_MANY_KEYS"
	ReasonRenamedRecently     = "RENAMED_RECENTLY"
	ReasonLimitedSession      = "LIMITED_SESSION"
	ReasonSessionLinkNotFound = "SESSION_LINK_NOT_FOUND"
	ReasonSessionNotFound     = "SESSION_NOT_FOUND"
	ReasonTooManySessions     = "TOO_MANY_SESSIONS"
	ReasonReactionsOff        = "REACTIONS_OFF"
	ReasonRateLimited         = "RATE_LIMITED"
	ReasonTooManyGames        = "TOO_MANY_GAMES" // Servers no longer send it.
	ReasonMessageTooLarge     = "MESSAGE_TOO_LARGE"
	ReasonOriginNotAllowed    = "ORIGIN_NOT_ALLOWED"
	ReasonGameDamaged         = "GAME_DAMAGED"
	ReasonServerUnavailable   = "SERVER_UNAVAILABLE"
	ReasonStorageUnavailable  = "STORAGE_UNAVAILABLE"
	ReasonChallengeNotFound   = "CHALLENGE_NOT_FOUND"
	ReasonChallengeOpen       = "CHALLENGE_OPEN"
	ReasonChallengeNotOpen    = "CHALLENGE_NOT_OPEN"
	ReasonChallengeClosed     = "CHALLENGE_CLOSED"
	ReasonChallengeStarted    = "CHALLENGE_STARTED"
	ReasonChallengeFull       = "CHALLENGE_FULL"
	ReasonNotCreator          = "NOT_CREATOR"
	ReasonNotEntered          = "NOT_ENTERED"
	ReasonTooFewEntrants      = "TOO_FEW_ENTRANTS"
	ReasonSeedHidden          = "SEED_HIDDEN"
)
