// Package audit writes the audit log: one JSON object a line about who connected or
// was refused, and what changed accounts, schema and settings.
//
// Write decides by the class of an event alone; the caller knows what happened. Texts
// come without secrets.
//
// An event is given to the system when Write returns: a killed server loses none, a
// crash of the machine what the system had not written to the disk, and with
// Settings.Sync nothing. Each line is whole: what a full disk cuts off is removed, and
// what a crash has cut off ends with a line break before the next event.
//
// Write never fails its statement. While the file cannot be written the events are
// counted as lost, the server's log says so once, and the file is tried again every
// second; the first line after that is an event with their number.
//
// Files are opened for appending, and again after Reopen, so that they can be renamed
// meanwhile. Nothing is written to a file that is no audit log.
package audit
