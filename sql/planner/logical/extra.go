package logical

// RenameUser is RENAME USER a TO b, ….
type RenameUser struct{ From, To []UserSpec }

// ExplainConnection is EXPLAIN FOR CONNECTION id.
type ExplainConnection struct {
	ID     uint64
	Format string
}

func (*RenameUser) statement()        {}
func (*ExplainConnection) statement() {}
