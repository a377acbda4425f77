package metrics

// ErrorClass says in a word what kind of error ended a statement.
type ErrorClass uint8

// The classes.
const (
	ErrorOther       ErrorClass = iota
	ErrorSyntax                 // the text, or names in it, is wrong
	ErrorConstraint             // a key, a foreign key, NOT NULL, CHECK or the range of a type
	ErrorLock                   // a lock was not to be had in time, or a deadlock
	ErrorMemory                 // limits of memory and of temporary files
	ErrorDisk                   // the disk is full, fails, or is damaged
	ErrorAccess                 // privileges, accounts, read-only modes
	ErrorInterrupted            // killed, out of time, or the server stops
	ErrorInternal               // a fault of the server
	NumErrorClasses
)

var classNames = [NumErrorClasses]string{"other", "syntax", "constraint", "lock", "memory", "disk", "access", "interrupted", "internal"}

// String is the name of a class, as a label.
func (c ErrorClass) String() string { return classNames[c] }

var classes = func() map[uint16]ErrorClass {
	out := map[uint16]ErrorClass{}
	for class, numbers := range map[ErrorClass][]uint16{
		ErrorSyntax: {1046, 1049, 1051, 1052, 1054, 1055, 1056, 1064, 1065, 1066, 1072, 1109, 1115, 1128, 1136, 1140, 1146, 1149, 1193, 1222, 1231, 1232,
			1235, 1241, 1247, 1248, 1305, 1313, 1327, 1365, 1582, 1630, 3065},
		ErrorConstraint:  {1022, 1048, 1062, 1169, 1216, 1217, 1264, 1265, 1292, 1366, 1364, 1406, 1451, 1452, 1557, 1586, 1690, 1748, 1761, 1762, 3819},
		ErrorLock:        {1099, 1100, 1205, 1206, 1213, 1223, 1689, 3058, 3572},
		ErrorMemory:      {1037, 1038, 1041, 1114, 1135, 1153, 1197, 1301, 1461, 3170},
		ErrorDisk:        {1003, 1004, 1005, 1006, 1021, 1026, 1030, 1033, 1034, 1194, 1195, 1712},
		ErrorAccess:      {1044, 1045, 1142, 1143, 1211, 1226, 1227, 1290, 1370, 1396, 1410, 1419, 1698, 1792, 1820, 1836, 3118, 3159, 3530, 3879},
		ErrorInterrupted: {1053, 1077, 1094, 1152, 1158, 1159, 1160, 1161, 1317, 1927, 3024, 3169},
		ErrorInternal:    {1105, 1815, 3130},
	} {
		for _, n := range numbers {
			out[n] = class
		}
	}
	return out
}()

// ClassOf is the class of an error by its number.
func ClassOf(number uint16) ErrorClass { return classes[number] }
