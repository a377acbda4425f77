// Package stream is the change log of tables: what every commit did to their
// rows, in the order of the commits, written by the same commits.
//
// # Model
//
// A stream belongs to a table (schema.Table.Stream) and keeps its id when the
// table is renamed, altered or emptied. Its records are stored in a key space of
// their own:
//
//	20 stream(u32 BE) sequence(u64 BE) ordinal(u32 BE) part(u16 BE)
//
// The sequence is the stamp of the commit, which the store fills in (stamped
// writes; without other writers to the store it is the commit's sequence); ordinals ascend in the order of the changes of the transaction,
// over all its streams, with gaps. A record is a pair, or several parts where
// it is large. Part 0:
//
//	0        1     2..9     10     …
//	version  kind  time     flags  descriptor's version (uvarint)  parts that follow (uvarint)  payload
//
//	time     of the commit, microseconds since 1970, u64 BE
//	flags    1: before image, 2: after image, 4: the row's key changed,
//	         8: the table existed before its stream
//	payload  row changes: key; old key if it changed; before image; after
//	         image; each preceded by its length as a uvarint.
//	         changes of the table: the version before as a uvarint
//
// The other parts continue the payload. Keys are row keys without the table's
// prefix, images rows of package rowenc with all values in them: the descriptor
// of the version is needed to decode them. Everything else is stored in the
// system space:
//
//	01 'w' 's' stream version(u32 BE)  the table's descriptor at that version, JSON
//	01 'w' 't' stream                  the last sequence whose records were removed, u64 BE
//	01 'w' 'e' stream                  the stream of a dropped table, JSON
//	01 'w' 'c' name                    a consumer and its checkpoint, JSON
//
// # Invariants
//
//	I1  A record is there if and only if its commit is.
//	I2  Records are removed from the oldest on, after the mark ('t') says so:
//	    a read from before the mark fails (ErrPurged), and misses nothing
//	    silently.
//	I3  The descriptor of every record that is not removed is stored.
//	I4  Every change of the rows of a table with a stream is recorded, except
//	    that of an ALTER TABLE which copies the table: its record says that the
//	    table changed, and from then on rows are of the new form.
//	I5  A reader goes up to what is settled in its view (storage.Snapshot), and no
//	    further: a record before that which it has not met will never be there.
//
// It decodes no rows and knows no SQL.
package stream
