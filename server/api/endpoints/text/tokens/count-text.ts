/**
 * Counts tokens in time linear in the text. A tokenizer merges an unbroken piece in time quadratic
 * in its length, so that a text is cut into short pieces first.
 */

/**
 * A cut adds at most one token per 40 or so. Tokenizers split digits into groups of three, which
 * are not cut.
 */
const PIECE_CHARACTERS = 63
const SPACE = 0x20
const FIRST_LOW_SURROGATE = 0xdc00
const LAST_LOW_SURROGATE = 0xdfff

/** Returns the tokens of a text; `countPiece` gets at most a few dozen characters at once. */
export function countText(text: string, countPiece: (piece: string) => number): number {
  let tokens = 0
  for (let at = 0; at < text.length; ) {
    const end = findEnd(text, at)
    tokens += countPiece(text.slice(at, end))
    at = end
  }
  return tokens
}

/** Returns the end of the piece: before its last space if it has one, as words end there. */
function findEnd(text: string, at: number): number {
  const end = at + PIECE_CHARACTERS
  if (end >= text.length) return text.length
  for (let cut = end; cut > at + PIECE_CHARACTERS / 2; cut -= 1) {
    if (text.charCodeAt(cut) === SPACE) return cut
  }
  const code = text.charCodeAt(end)
  return code >= FIRST_LOW_SURROGATE && code <= LAST_LOW_SURROGATE ? end + 1 : end
}
