// A bitmap font, five columns by seven rows, so that a picture can show its prompt without fonts on
// the machine. Each character of a glyph is one row in base 32.

const GLYPHS: Record<string, string> = {
  ' ': '0000000',
  '!': '4444404',
  '"': 'aa00000',
  '#': 'aavavaa',
  $: '4fke5u4',
  '%': 'pp248jj',
  '&': 'cik8lid',
  "'": '4400000',
  '(': '2488842',
  ')': '8422248',
  '*': '0aevea0',
  '+': '044v440',
  ',': '0000448',
  '-': '000v000',
  '.': '0000066',
  '/': '1122488',
  '0': 'ehjlphe',
  '1': '4c4444e',
  '2': 'eh1248v',
  '3': 'v2421he',
  '4': '26aiv22',
  '5': 'vgu11he',
  '6': '68guhhe',
  '7': 'v124888',
  '8': 'ehhehhe',
  '9': 'ehhf12c',
  ':': '0660660',
  ';': '0660664',
  '<': '248g842',
  '=': '00v0v00',
  '>': '8421248',
  '?': 'eh12404',
  '@': 'eh1dlle',
  A: 'ehhvhhh',
  B: 'uhhuhhu',
  C: 'ehggghe',
  D: 'uhhhhhu',
  E: 'vgguggv',
  F: 'vgguggg',
  G: 'ehgnhhf',
  H: 'hhhvhhh',
  I: 'e44444e',
  J: '72222ic',
  K: 'hikokih',
  L: 'ggggggv',
  M: 'hrllhhh',
  N: 'hhpljhh',
  O: 'ehhhhhe',
  P: 'uhhuggg',
  Q: 'ehhhlid',
  R: 'uhhukih',
  S: 'fgge11u',
  T: 'v444444',
  U: 'hhhhhhe',
  V: 'hhhhha4',
  W: 'hhhllla',
  X: 'hha4ahh',
  Y: 'hhha444',
  Z: 'v1248gv',
  '[': 'e88888e',
  '\\': 'gg84211',
  ']': 'e22222e',
  '^': '4ah0000',
  _: '000000v',
  '`': '8400000',
  a: '00e1fhf',
  b: 'ggmphhu',
  c: '00egghe',
  d: '11djhhf',
  e: '00ehvge',
  f: '698s888',
  g: '0fhhf1e',
  h: 'ggmphhh',
  i: '40c444e',
  j: '20622ic',
  k: 'ggikoki',
  l: 'c44444e',
  m: '00qllhh',
  n: '00mphhh',
  o: '00ehhhe',
  p: '0uhhugg',
  q: '0fhhf11',
  r: '00mpggg',
  s: '00ege1u',
  t: '88s8896',
  u: '00hhhjd',
  v: '00hhha4',
  w: '00hhlla',
  x: '00ha4ah',
  y: '00hhf1e',
  z: '00v248v',
  '{': '2448442',
  '|': '4444444',
  '}': '8442448',
  '~': '008l200',
}

const GLYPH_COLUMNS = 5
const GLYPH_ROWS = 7

export interface Bitmap {
  columns: number
  rows: number
  set: (column: number, row: number) => boolean
}

/** Returns the glyph of a character, or a box with its code point in hexadecimal. */
export function glyphOf(character: string): Bitmap {
  const glyph = GLYPHS[character]
  if (glyph === undefined) return boxOf(character)
  const rows = [...glyph].map((row) => Number.parseInt(row, 32))
  return {
    columns: GLYPH_COLUMNS,
    rows: GLYPH_ROWS,
    set: (column, row) => (((rows[row] ?? 0) >> (GLYPH_COLUMNS - 1 - column)) & 1) === 1,
  }
}

/** Three by five digits, for the boxes. */
const DIGITS = [
  '75557',
  '26227',
  '71747',
  '71717',
  '55711',
  '74717',
  '74757',
  '71111',
  '75757',
  '75717',
  '75755',
  '65656',
  '74447',
  '65556',
  '74647',
  '74644',
]

function boxOf(character: string): Bitmap {
  const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0').slice(-4)
  const digits = [...code].map((digit) => DIGITS[Number.parseInt(digit, 16)] ?? '')
  return {
    columns: 11,
    rows: 15,
    set: (column, row) => {
      if (column === 0 || column === 10 || row === 0 || row === 14) return true
      const [right, x] = column >= 6 ? [1, column - 6] : [0, column - 2]
      const [low, y] = row >= 8 ? [1, row - 8] : [0, row - 2]
      const line = Number(digits[low * 2 + right]?.[y] ?? '0')
      return x >= 0 && x < 3 && y >= 0 && y < 5 && ((line >> (2 - x)) & 1) === 1
    },
  }
}
