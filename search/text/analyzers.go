package text

import "sync"

// definitions are the analyzers by name.
var definitions = sync.OnceValue(func() map[string]definition {
	defs := map[string]definition{
		"single_word": {withFolding(
			optionDef{name: "delimit_word", kind: boolOption, def: "false"},
		), makeSingleWord},
		"split": {withFolding(
			optionDef{name: "delimiter", kind: textOption, def: " "},
		), makeSplit},
		"fuzzy": {withFolding(
			optionDef{name: "min_chars", kind: intOption, def: "1", min: 1, max: 7},
			optionDef{name: "max_chars", kind: intOption, def: "3", min: 1, max: 7},
		), makeFuzzy},
		"ngram": {withFolding(
			optionDef{name: "token_size", kind: intOption, def: "2", min: 1, max: 10},
		), makeNgram},
		"fulltext": {withFolding(
			optionDef{name: "min_token_size", kind: intOption, def: "3", min: 0, max: 16},
			optionDef{name: "max_token_size", kind: intOption, def: "84", min: 10, max: 84},
			optionDef{name: "stopwords", kind: choiceOption, def: "innodb", choices: []string{"innodb", "none"}},
		), makeFulltext},
		"cjk":      {foldOptions, makeCJK},
		"standard": {foldOptions, makeStandard},
		"keyword":  {foldOptions, makeKeyword},
		"min_word": {foldOptions, makeChinese(false)},
		"max_word": {foldOptions, makeChinese(true)},
	}
	for code, name := range languages {
		defs[name] = definition{nil, makeLanguage(code)}
	}
	return defs
})
