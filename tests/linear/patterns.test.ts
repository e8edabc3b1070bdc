import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { judgePattern } from '../tidy/check-work.ts'
import { maskSource } from '../tidy/mask-source.ts'
import { listFiles, readText } from '../tidy/read-tree.ts'
import { createCounter } from './patterns/count-steps.ts'
import { type FoundPattern, readPatterns, recordPatterns } from './patterns/find-patterns.ts'
import { pumpPattern } from './patterns/pump-pattern.ts'
import { readPattern } from './patterns/read-pattern.ts'

/** Attempts for each character of the worst text. */
const STEPS_MAX = 256
/** Twice the text may cost twice as much; a repetition of up to 200 characters a little more. */
const GROWTH_MAX = 3

const BAD: readonly (readonly [source: string, flags?: string])[] = [
  ['a+$'],
  ['\\s+$'],
  ['.*a'],
  ['a.*b'],
  ['^.*a.*b'],
  ['\\d+\\D*x'],
  ['(a+)+b'],
  ['(a*)*b'],
  ['(?:a?b?c?)*x'],
  ['^(a|aa)+$'],
  ['^(?:a|a)*$'],
  ['a(?:a*b)?', 'g'],
  ['^(?:a[ab]*c|a)*'],
  ['^data:([^;,]*)[^,]*;base64,'],
  ['(-{2,}|[–—―]-*)(rs|rt)(?![a-z])[\\s=:,]*(\\S{1,40})', 'gi'],
  ['(?=[\\w-]*\\d)[\\w-]{12,}'],
  ['"((?:[^"\\\\]|\\\\.)*)"', 'gs'],
  ['\\p{L}+\\d', 'u'],
]

const GOOD: readonly (readonly [source: string, flags?: string])[] = [
  ['\\d+'],
  ['^\\d+$'],
  ['\\b\\w+$'],
  ['(?<![\\w])\\w+\\d$'],
  ['x*y*'],
  ['\\\\(.)', 'gs'],
  ['^[^,]*,[^,]*,$'],
  ['(--|[–—―]-*)(rs|rt)(?![a-z])[\\s=:,]*(\\S{1,40})', 'gi'],
  ['"((?:[^"\\\\]|\\\\.)*)"?|([^",{}]+)', 'gs'],
]

describe('the tools', () => {
  test('the proof tells patterns that are linear from those that are not', () => {
    for (const [source, flags = ''] of BAD) assert.ok(judgePattern(source, flags), source)
    for (const [source, flags = ''] of GOOD) assert.equal(judgePattern(source, flags), undefined)
    assert.match(judgePattern('(a)\\1', '') ?? '', /back reference/)
    assert.match(judgePattern('(?<=ab*)c', '') ?? '', /look behind/)
  })

  test('pumps find patterns that are not linear without the proof', () => {
    for (const [source, flags = ''] of BAD) {
      const { growth, stepsPerCharacter } = pumpPattern(readPattern(source, flags))
      assert.ok(growth > GROWTH_MAX || stepsPerCharacter > STEPS_MAX, `${source}: ${growth}`)
    }
  })

  test('property: the counting matcher finds what the language finds', () => {
    const cases = [...BAD, ...GOOD].map(([source, flags = '']) => {
      const pattern = readPattern(source, flags)
      const count = createCounter(pattern)
      const native = new RegExp(source, flags.replace('g', ''))
      return { pattern, count, native }
    })
    fc.assert(
      fc.property(
        fc.constantFrom(...cases),
        fc.array(fc.nat(), { maxLength: 12 }),
        ({ pattern: { alphabet }, count, native }, picks) => {
          const { examples } = alphabet
          const classes = picks.map((pick) => pick % examples.length)
          const text = classes.map((one) => examples[one]).join('')
          // Every class is one unit of the text here.
          const expected = native.exec(text)?.index
          assert.equal(count(classes).matchedFrom, expected, `${native} ${JSON.stringify(text)}`)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('the patterns of the server', async () => {
  const paths = listFiles('server').filter((path) => path.endsWith('.ts'))
  const read = paths.map((path) => readPatterns(path, readText(path)))
  const literals = read.flatMap((one) => one.literals)
  const built = await recordPatterns()

  test('the tidy rules see each literal that the parser sees', () => {
    const masked = paths.flatMap((path) => maskSource(readText(path)).strings)
    const seen = masked.filter(({ opening }) => opening === '/').map(({ text }) => text)
    assert.deepEqual(seen.sort(), literals.map(({ source }) => source).sort())
  })

  test('whatever is built from text is built while the modules load, and linear', () => {
    const places = new Set(built.map(({ place }) => place))
    const late = read.flatMap(({ builders }) => builders).filter((place) => !places.has(place))
    assert.deepEqual(late, [], 'Build it once, outside of functions')
    const bad = built.flatMap(({ place, source, flags }) => {
      const problem = judgePattern(source, flags)
      return problem ? [`${place} ${problem}`] : []
    })
    assert.deepEqual(bad, [])
  })

  test('no text makes a pattern try more often than a constant for each character', () => {
    const all = new Map([...literals, ...built].map((one) => [`/${one.source}/${one.flags}`, one]))
    assert.deepEqual([...all.values()].flatMap(pump), [])
  })
})

function pump({ place, source, flags }: FoundPattern): string[] {
  if (!/[*+{]/.test(source)) return []
  const { growth, stepsPerCharacter, worst } = pumpPattern(readPattern(source, flags))
  const isGrowing = growth > GROWTH_MAX && stepsPerCharacter > STEPS_MAX / 16
  if (!isGrowing && stepsPerCharacter <= STEPS_MAX) return []
  return [`${place} /${source}/ ${Math.round(stepsPerCharacter)} attempts: ${worst}`]
}
