/**
 * The characters that a pattern can tell apart: a few of each, grouped into classes so that all of
 * one class match the same parts of the pattern.
 */
import type { AST } from '@eslint-community/regexpp'

/** The text of a character class, set or character, as the pattern has it. */
type Part = AST.Character | AST.CharacterClass | AST.CharacterSet | AST.ExpressionCharacterClass

export interface Alphabet {
  /** One character of each class. */
  readonly examples: readonly string[]
  /** For each class, true for a character of a word (`\b`). */
  readonly words: readonly boolean[]
  /** For each class, true for a line end (`^` and `$` with the flag `m`). */
  readonly lineEnds: readonly boolean[]
  /** The classes that a part matches. */
  readonly classesOf: (part: Part) => ReadonlySet<number>
}

/** Latin, marks, other scripts, spaces, punctuation, symbols, halves of pairs, private use. */
const SAMPLES: readonly (readonly [first: number, last: number])[] = [
  [0x0000, 0x017f],
  [0x0300, 0x0303],
  [0x0391, 0x0393],
  [0x0430, 0x0433],
  [0x05d0, 0x05d1],
  [0x0661, 0x0662],
  [0x0e01, 0x0e02],
  [0x1680, 0x1680],
  [0x2000, 0x206f],
  [0x20ac, 0x20ac],
  [0x2126, 0x212b],
  [0x2190, 0x2191],
  [0x3000, 0x3002],
  [0x3042, 0x3043],
  [0x30a2, 0x30a3],
  [0x4e00, 0x4e01],
  [0xd83d, 0xd83d],
  [0xde00, 0xde00],
  [0xe000, 0xe000],
  [0xfeff, 0xfeff],
  [0xff01, 0xff5e],
  [0xffff, 0xffff],
  [0x1d400, 0x1d401],
  [0x1f600, 0x1f601],
]
const LAST_UNIT = 0xffff

export function readAlphabet(parts: readonly Part[], flags: string): Alphabet {
  const used = flags.replace(/[^isuv]/g, '')
  const isByPoint = /[uv]/.test(flags)
  const matchers = new Map(parts.map((part) => [part.raw, new RegExp(`^(?:${part.raw})$`, used)]))
  matchers.set('\\w', new RegExp('^\\w$', used))
  matchers.set('\\n', /^[\n\r\u2028\u2029]$/)
  const names = [...matchers.keys()]
  const classes = new Map<string, { readonly example: string; readonly matched: Set<string> }>()
  for (const point of listPoints(parts)) {
    if (point > LAST_UNIT && !isByPoint) continue
    const character = String.fromCodePoint(point)
    const matched = names.filter((name) => matchers.get(name)?.test(character))
    const signature = matched.join('\n')
    const known = classes.get(signature)
    // A visible character is easier to read in a report.
    const isVisible = point > 0x20 && point < 0x7f
    if (!known || (isVisible && !/[!-~]/.test(known.example))) {
      classes.set(signature, { example: character, matched: new Set(matched) })
    }
  }
  const all = [...classes.values()]
  const cache = new Map<string, ReadonlySet<number>>()
  return {
    examples: all.map(({ example }) => example),
    words: all.map(({ matched }) => matched.has('\\w')),
    lineEnds: all.map(({ matched }) => matched.has('\\n')),
    classesOf({ raw }) {
      const found =
        cache.get(raw) ?? new Set(all.flatMap((one, at) => (one.matched.has(raw) ? [at] : [])))
      cache.set(raw, found)
      return found
    },
  }
}

/** The samples, each character of the pattern, its neighbours and its other letter cases. */
function listPoints(parts: readonly Part[]): ReadonlySet<number> {
  const points = new Set<number>()
  for (const [first, last] of SAMPLES) {
    for (let point = first; point <= last; point++) points.add(point)
  }
  for (const edge of parts.flatMap(listEdges)) {
    const text = String.fromCodePoint(edge)
    const cases = [...text.toLowerCase(), ...text.toUpperCase()].map((one) => one.codePointAt(0))
    for (const point of [edge - 1, edge, edge + 1, ...cases]) {
      if (point !== undefined && point >= 0 && point <= 0x10ffff) points.add(point)
    }
  }
  return points
}

type ClassPart = Part | AST.CharacterClassElement | AST.ClassSetOperand

function listEdges(part: ClassPart): number[] {
  switch (part.type) {
    case 'Character':
      return [part.value]
    case 'CharacterClassRange':
      return [part.min.value, part.max.value]
    case 'CharacterClass':
      return part.elements.flatMap(listEdges)
    default:
      return []
  }
}
