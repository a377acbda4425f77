package mysqlwire

// capability is the set of CLIENT_* flags.
type capability uint32

const (
	capLongPassword     capability = 1 << 0
	capFoundRows        capability = 1 << 1
	capLongFlag         capability = 1 << 2
	capConnectWithDB    capability = 1 << 3
	capCompress         capability = 1 << 5
	capODBC             capability = 1 << 6
	capLocalFiles       capability = 1 << 7
	capIgnoreSpace      capability = 1 << 8
	capProtocol41       capability = 1 << 9
	capInteractive      capability = 1 << 10
	capSSL              capability = 1 << 11
	capTransactions     capability = 1 << 13
	capSecureConnection capability = 1 << 15
	capMultiStatements  capability = 1 << 16
	capMultiResults     capability = 1 << 17
	capPSMultiResults   capability = 1 << 18
	capPluginAuth       capability = 1 << 19
	capConnectAttrs     capability = 1 << 20
	capPluginAuthLenEnc capability = 1 << 21
	capExpiredPasswords capability = 1 << 22
	capSessionTrack     capability = 1 << 23
	capDeprecateEOF     capability = 1 << 24
	capQueryAttributes  capability = 1 << 27
)

// serverCaps is what every server offers; capSSL is added with TLS.
const serverCaps = capLongPassword | capFoundRows | capLongFlag | capConnectWithDB | capCompress | capODBC |
	capLocalFiles | capIgnoreSpace | capProtocol41 | capInteractive | capTransactions | capSecureConnection |
	capMultiStatements | capMultiResults | capPSMultiResults | capPluginAuth | capConnectAttrs |
	capPluginAuthLenEnc | capExpiredPasswords | capSessionTrack | capDeprecateEOF | capQueryAttributes

func (c capability) has(f capability) bool { return c&f != 0 }

// Commands.
const (
	comQuit             = 0x01
	comInitDB           = 0x02
	comQuery            = 0x03
	comFieldList        = 0x04
	comRefresh          = 0x07
	comStatistics       = 0x09
	comProcessKill      = 0x0c
	comDebug            = 0x0d
	comPing             = 0x0e
	comChangeUser       = 0x11
	comStmtPrepare      = 0x16
	comStmtExecute      = 0x17
	comStmtSendLongData = 0x18
	comStmtClose        = 0x19
	comStmtReset        = 0x1a
	comSetOption        = 0x1b
	comStmtFetch        = 0x1c
	comResetConnection  = 0x1f
)

// Column types of the protocol.
const (
	mysqlDecimal    = 0
	mysqlTiny       = 1
	mysqlShort      = 2
	mysqlLong       = 3
	mysqlFloat      = 4
	mysqlDouble     = 5
	mysqlNull       = 6
	mysqlTimestamp  = 7
	mysqlLongLong   = 8
	mysqlInt24      = 9
	mysqlDate       = 10
	mysqlTime       = 11
	mysqlDatetime   = 12
	mysqlYear       = 13
	mysqlNewDate    = 14
	mysqlVarchar    = 15
	mysqlBit        = 16
	mysqlBool       = 244
	mysqlJSON       = 245
	mysqlNewDecimal = 246
	mysqlEnum       = 247
	mysqlSet        = 248
	mysqlTinyBlob   = 249
	mysqlMediumBlob = 250
	mysqlLongBlob   = 251
	mysqlBlob       = 252
	mysqlVarString  = 253
	mysqlString     = 254
	mysqlGeometry   = 255
)

// Column flags.
const (
	flagNotNull       = 1
	flagPrimaryKey    = 2
	flagUniqueKey     = 4
	flagMultipleKey   = 8
	flagBlob          = 16
	flagUnsigned      = 32
	flagZerofill      = 64
	flagBinary        = 128
	flagEnum          = 256
	flagAutoIncrement = 512
	flagTimestamp     = 1024
	flagSet           = 2048
	flagNoDefault     = 4096
	flagOnUpdateNow   = 8192
	flagPartOfKey     = 16384
)
