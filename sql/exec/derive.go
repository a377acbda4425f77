package exec

// prepareExprs finds out what is computed for the rows to be inserted.
func (in *Inserter) prepareExprs() error {
	exprs, err := in.env.Sink.TableExprs(in.t)
	if err != nil || exprs == nil {
		return err
	}
	in.derive = exprs.NewWriter(in.ec)
	for i := range exprs.Steps {
		if s := &exprs.Steps[i]; s.Default {
			if in.lateCols == nil {
				in.lateCols, in.late = make([]bool, len(in.row)), make([]bool, len(in.row))
			}
			in.lateCols[s.Pos] = true
		}
	}
	return nil
}

// applyExprs computes the defaults that read the row and the generated
// columns, then tests the constraints.
func (in *Inserter) applyExprs() error {
	if err := in.derive.Fill(in.row, in.late, nil, int(in.records)); err != nil {
		return err
	}
	return in.derive.Check(in.row)
}
