// Package backup copies a running store into a directory, verifies such copies
// and makes stores of them again.
//
// # Model
//
// A backup is a directory:
//
//	MANIFEST   what belongs to the backup; its first line has the checksum of the rest
//	data/      files of the store, named as in its directory
//
// The base is the store's own checkpoint, which shares the files that never
// change with the store. They are copied from there: a backup shares no disk
// block with the store. An incremental backup copies what the backup before it
// does not have with the same name, size and checksum, and names for each other
// file the backup that holds it, which has to stay.
//
// Checksums are SHA-256: the comparison of an incremental backup must not be
// fooled, sha256sum can check a file without this program, and processors
// compute it faster than disks deliver.
//
// # Invariants
//
//	I1  A directory has its final name only once all files, the manifest among
//	    them, are on disk: what an interruption leaves is named NAME.partial and
//	    is not taken for a backup.
//	I2  A backup holds every commit that was acknowledged before it began, and
//	    is the state after some commit.
//	I3  Every byte is compared with its checksum before a restored store gets
//	    its name.
package backup
