package exec

// prepareRules finds out what is computed for the rows to be inserted.
func (in *Inserter) prepareRules() error {
	rules, err := in.env.Sink.Rules(in.t)
	if err != nil || rules == nil {
		return err
	}
	in.rules = rules.NewWriter(in.ec)
	for i := range rules.Steps {
		if s := &rules.Steps[i]; s.Default {
			if in.lateCols == nil {
				in.lateCols, in.late = make([]bool, len(in.row)), make([]bool, len(in.row))
			}
			in.lateCols[s.Pos] = true
		}
	}
	return nil
}

// applyRules computes the defaults that read the row and the generated
// columns, then tests the constraints.
func (in *Inserter) applyRules() error {
	if err := in.rules.Fill(in.row, in.late, nil, int(in.records)); err != nil {
		return err
	}
	return in.rules.Check(in.row)
}
