// Package seg stores one search index: segments of documents with typed
// columns, an inverted index, atomic batches and snapshots. It knows no SQL and
// no queries: it gives the executor bitsets, columns and postings. It alone
// knows scorch and zap, the engines of Bleve.
//
// # Model
//
// A document is a row of a table: an id (the bytes of its primary key), values
// of fields by number, and nested documents, which directly follow it. An
// Index takes batches of upserts and deletions by id; each is visible as a
// whole when Apply returns, and durable some hundred milliseconds later
// (reported to Options.OnDurable). A batch has a checkpoint, the position in
// the change log up to which it brings the index, and small values of the
// caller's. After a crash the index is exactly what it was at one checkpoint
// that is not before the durable one; the log is applied again from there.
//
// A Snapshot is a list of Segments, whose documents have numbers from 0 on. A
// segment's files never change; deleted documents stay in columns and postings
// and are not in Live, so every bitset is combined with Live or Roots. Ids are
// unique among the live documents of a snapshot.
//
// # Invariants
//
//   - I1: the documents of a snapshot are those of its checkpoint: their number
//     and the sum of the hashes of their ids, written with every batch, are
//     compared when the index is opened.
//   - I2: no byte of a file is used before its checksum was verified: footer
//     and directory when a file is opened, each section at its first use, the
//     inverted part at its first use. A mismatch is an ErrDamaged; the index
//     then refuses everything and must be rebuilt.
//   - I3: a file is on disk with its name before a root names it.
//   - I4: what a merge reads is verified like what a query reads: damage does
//     not get a new checksum.
//
// # What scorch does, and what not
//
// Scorch keeps the list of segments and of deleted documents (root.bolt),
// writes segments to disk in the background, merges them and removes files
// that nothing names. A plug-in makes it keep our segments. It sees a batch as
// deletions of ids and one document that carries the finished segment. Around
// its weaknesses: opening a damaged index silently falls back to older
// snapshots, so checkRoot looks first; its goroutines retry what fails without
// a pause, so the error callback waits; directories are not synced, so we do.
//
// # The file of a segment
//
// One file holds everything, in memory as on disk (little endian):
//
//	inverted     the terms and postings of all Text fields, as zap v16 writes
//	             them, with zap's footer and its CRC-32; absent without texts
//	sections     each at a multiple of 64 bytes
//	directory    56 bytes a section:
//	               field uint16 · kind uint8 · part uint8 · crc32c uint32
//	               offset uint64 · length uint64 · 4 parameters int64
//	footer       64 bytes:
//	               "sqlotsC1" · version uint32 · sections uint32
//	               directory's offset uint64 · documents uint64 · of them not
//	               nested uint64 · zeros · directory's crc32c uint32 · crc32c of
//	               the footer up to here uint32
//
// Parts are numbered in file.go. What they hold:
//
//   - Integers are packed (packed.go): blocks of 1024 with minimum and
//     maximum, differences divided by their common divisor, in whole bytes,
//     so that scans compare without unpacking bits and skip blocks. A DATETIME
//     in microseconds of whole seconds costs 4 bytes.
//   - A permutation lists the documents in the order of their values, in 2 to
//     4 bytes; binary search in it counts and finds ranges. Unsorted fields have
//     none, and unsorted keys no documents for each sort key.
//   - A bitset of NULL documents, absent if no document is NULL.
//   - Arrays keep the offsets of each document's values in a flat list.
//   - Key fields: distinct values in the order of (sort key, value), ordinals,
//     and for each sort key the documents: a list, or a bitset where that is
//     smaller. Postings of keys need no inverted part: their number is a
//     difference of two offsets, and those of a range of keys are adjacent.
//   - Text fields: terms, frequencies and positions in the inverted part, the
//     length of each document as integers, number and sum as parameters.
//   - Point fields: latitude and longitude as int32, both original coordinates
//     (since version 2), a permutation in the order of their cells, which are
//     the interleaved bits of both, and the cell of every 64th entry of it.
//   - Bytes fields: blocks of 16 KiB, compressed with zstd.
//   - A field that the index got later has no section in older files: their
//     documents have Field.Missing.
//   - Ids, which of them are the least and the greatest, and a hash table from id
//     to document of 5 bytes a document.
//   - Nested documents: a bitset of those that are not nested, and the number
//     of each one's path in the schema's list, which may only grow.
package seg
