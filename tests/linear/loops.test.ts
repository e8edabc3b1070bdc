/**
 * Twice the entries may cost twice the work. Each function that reads what callers and vendors send
 * gets values of three sizes, and no block of code may run more than in proportion.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { refuseOtherSizes } from '../../server/api/endpoints/images/refuse-other-sizes.ts'
import { readToolFeatures } from '../../server/api/endpoints/text/billing/priced-options.ts'
import { scanMembers } from '../../server/wire/dialects/json-scan.ts'
import type { QuotedRequest } from '../../server/work/pipeline/metering.ts'
import { createInputs, type Inputs, readAll } from './loops/call-reader.ts'
import { startCounting, type Work, type WorkCounter } from './loops/count-work.ts'
import { findReaders, type Reader } from './loops/find-readers.ts'
import { LEFT_OUT } from './loops/left-out.ts'

const SIZES = [32, 64, 128] as const
/**
 * Work that is `a + b × size` has an excess of exactly zero, whatever `a` and `b` are; a loop over
 * all entries inside of another has 6 × 32².
 */
const excess = (small: number, middle: number, large: number) => large - 3 * middle + 2 * small
const EXCESS_MAX = 2 * SIZES[0] ** 2
/** The second step adds twice as many entries as the first one, each with about as many bytes. */
const GROWTH_MAX = 2.1

describe('loops over what callers and vendors send', () => {
  let readers: readonly Reader[] = []
  let sized: readonly Inputs[] = []
  let counter: WorkCounter
  let refusing: readonly Reader[] = []
  before(async () => {
    readers = await findReaders(LEFT_OUT)
    sized = SIZES.map((size) => createInputs(size))
    // The first call fills caches, before anything is counted.
    refusing = readers.filter((reader) => sized.every((one) => readAll(reader, one) === 0))
    counter = startCounting()
  })
  after(() => counter.stop())

  /** Returns the places where a reader does more than in proportion. */
  const measure = (reader: Reader) => {
    return listGrowing(
      sized.map((inputs) => counter.count((note) => readAll(reader, inputs, note))),
    )
  }

  test('all that read are found and called', () => {
    assert.ok(readers.length > 150, `${readers.length} readers`)
    // Give it what it takes in `call-reader.ts`, or say in `left-out.ts` why it is not called.
    assert.deepEqual(
      refusing.map(({ place }) => place),
      [],
    )
  })

  test('run in proportion to their number', () => {
    const growing = readers.flatMap((reader) => {
      return measure(reader).map((place) => `${reader.place}: ${place}`)
    })
    assert.deepEqual(growing, [])
  })

  test('the names in a request for pictures are read once, however many facts prices have', () => {
    const names = Array.from({ length: 500 }, (_, index) => [`imageMade${index}`, 1])
    const value = { prompt: 'A river.', extra: Object.fromEntries(names) }
    const search = (...facts: readonly string[]) => {
      const prices = facts.map((fact) => ({ when: { [fact]: 'x' } }))
      const request = { value, model: { prices } } as unknown as QuotedRequest
      const work = counter.count(() => refuseOtherSizes(request))
      return [...work].find(([place]) => place.includes('fold-forms.ts foldForms@'))?.[1]
    }
    const once = search('size')
    assert.equal(once, names.length + 2)
    assert.equal(search('size', 'quality'), once)
  })

  test('no more of a list that is none of tools is read than refuses it', () => {
    const work = counter.count(() => {
      const tools = Array(1_000).fill(1)
      assert.throws(() => readToolFeatures({ tools }), /at most 128/)
    })
    const printed = [...work].find(([place]) => place.includes('cut-json.ts printPath@'))?.[1]
    assert.equal(printed, 129)
  })

  test('a loop inside of a loop is found, in methods and in blocks', () => {
    const search = (value: unknown) => {
      if (Array.isArray(value)) for (const one of value) value.includes([one])
    }
    assert.match(
      measure({ place: 'x', takes: 'value', run: search }).join(),
      /methods with calls: /,
    )
    const scan = (value: unknown) => {
      const bytes = value as Buffer
      for (const _ of scanMembers(bytes, 0)) scanMembers(bytes, 0)
    }
    assert.match(measure({ place: 'x', takes: 'bytes', run: scan }).join(), /json-scan.ts readKey/)
  })
})

/** Blocks that begin to run at some size are not counted at a smaller one. */
function listGrowing([small, middle, large]: readonly Work[]): string[] {
  return [...(large ?? [])].flatMap(([place, most]) => {
    const [least = 0, more = 0] = [small?.get(place), middle?.get(place)]
    const isLarge = least > 0 && excess(least, more, most) > EXCESS_MAX
    const isGrowing = isLarge && most - more > GROWTH_MAX * (more - least)
    return isGrowing ? [`${place}: ${least} → ${more} → ${most}`] : []
  })
}
