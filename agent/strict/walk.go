package strict

import "iter"

// This file walks over valid JSON without decoding it. encoding/json has checked it before; on
// anything else the results mean nothing, and still nothing is read beyond the end.

// skipBlank returns the index of the first byte from i on that is not white space.
func skipBlank(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\r', '\n':
			i++
		default:
			return i
		}
	}
	return i
}

// Each yields the members of an object, with their quoted keys, or the
// elements of an array, with a nil key.
func Each(data []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		object := data[0] == '{'
		i := skipBlank(data, 1)
		for i < len(data) && data[i] != '}' && data[i] != ']' {
			var key []byte
			if object {
				end := skip(data, i)
				key = data[i:end]
				i = skipBlank(data, skipBlank(data, end)+1) // over the colon
			}
			end := skip(data, i)
			if end > len(data) || end <= i || !yield(key, data[i:end]) {
				return
			}
			i = skipBlank(data, end)
			if i < len(data) && data[i] == ',' {
				i = skipBlank(data, i+1)
			}
		}
	}
}

// skip returns the index behind the value that begins at i.
func skip(data []byte, i int) int {
	level := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			i = skipText(data, i)
		case '{', '[':
			level++
			i++
		case '}', ']':
			level--
			i++
		default:
			if level == 0 {
				return skipWord(data, i)
			}
			i++
		}
		if level <= 0 {
			return i
		}
	}
	return i
}

func skipText(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// skipWord passes a number, true, false or null.
func skipWord(data []byte, i int) int {
	for ; i < len(data); i++ {
		switch data[i] {
		case ',', '}', ']', ':', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return i
}
