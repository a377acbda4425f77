// Package pebblekv is the storage engine on local files, over Pebble.
//
// # Model
//
// A store directory holds:
//
//	FORMAT   one line, the format version; checked at open
//	LOGS     how long the logs are (logtails.go); without it a start warns
//	kv/      the Pebble database: tables, blob files, write-ahead log
//	bulk/    tables under construction by bulk loads; emptied at open
//	backup/  copies that backups are made from; removed at open
//	damaged-logs/
//	         what starts with Options.AcceptLogDamage have left out
//
// User keys are Pebble keys, unchanged and without versions. The engine itself
// owns the empty key and the key 00, under which every commit writes its
// sequence number (8 bytes, big-endian) in the same batch as its data. So each
// state of the database contains the number of its commit.
//
// A read as of a time needs all commits up to it, also those that have taken their
// time and are not applied yet: SnapshotAt waits for them.
//
// A commit builds its batch alone, takes the sequencer's mutex to get a number
// and to be applied, and waits for the log outside of it, so that concurrent
// commits share an fsync.
//
// Tables and indexes that are read repeatedly are read from flat copies in
// memory, the scan cache (see image), merged with what was committed since: a
// step costs a tenth of that of an iterator.
//
// # Invariants
//
//	I1  Sequence numbers grow in the order in which batches are applied.
//	I2  Nothing is acknowledged as synced unless the log was synced after the
//	    commit's record was written to it.
//	I3  After a write error on the log or the manifest the files are frozen
//	    (see disk): nothing is written any more, commits in flight end with
//	    storage.ErrUndetermined, later ones with storage.ErrUnavailable, reads
//	    continue. Opening the store again recovers.
//	I4  When space runs out, writes are refused with storage.ErrDiskFull before
//	    they begin; those in flight wait for space.
//	I5  What is read from an image is what Pebble would give. For that, the
//	    sequence up to which changes count is that of the state, see
//	    Store.visible.
//	I6  Open fails unless the logs have every byte that LOGS says is synced, or
//	    under the same boot written, and LOGS says so of a commit's record
//	    before the commit is acknowledged. It fails before anything is changed.
//
// Scans with the option Cold go through the block cache like others: Pebble
// cannot bypass it. They do not have an image made.
package pebblekv
