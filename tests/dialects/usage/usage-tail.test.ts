/** The charge in the last usage of a stream: any stream, in any pieces, keeps its other bytes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type CostFigure,
  stateCost,
  type UsagePlace,
} from '../../../server/wire/dialects/usage/state-cost.ts'
import {
  CHAT_USAGE,
  MESSAGES_USAGE,
  RESPONSES_USAGE,
} from '../../../server/wire/dialects/usage/usage-places.ts'
import { UsageTail } from '../../../server/wire/dialects/usage/usage-tail.ts'

const FIGURE = { cost: '0.00123' }

const USAGES: readonly object[] = [
  {},
  { total_tokens: 3 },
  { cost: 0.5, total_tokens: 3 },
  { 'a}"': '"usage":{"cost":9}', input_tokens: 1, details: { cost: 7 }, cost: '0.1' },
]

/** Events of a dialect: with usage that may be the last, with other usage, and without. */
interface Dialect {
  readonly place: UsagePlace
  readonly last: (usage: object) => object
  readonly early: (usage: object) => object
  readonly output: object
  readonly end: string
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  chat: {
    place: CHAT_USAGE,
    last: (usage) => ({ id: 'c', choices: [], usage }),
    early: (usage) => ({ choices: [{ delta: { content: 'a' }, finish_reason: null }], usage }),
    output: { choices: [{ index: 0, delta: { content: 'x "usage" y' }, finish_reason: null }] },
    end: '[DONE]',
  },
  messages: {
    place: MESSAGES_USAGE,
    last: (usage) => ({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }),
    early: (usage) => ({ type: 'content_block_delta', usage }),
    output: { type: 'content_block_delta', delta: { text: '"usage"' } },
    end: '{"type":"message_stop"}',
  },
  responses: {
    place: RESPONSES_USAGE,
    last: (usage) => ({ type: 'response.completed', response: { output: [], usage } }),
    early: (usage) => ({ type: 'response.in_progress', response: { usage } }),
    output: { type: 'response.output_text.delta', delta: '"usage"' },
    end: '{"type":"keepalive"}',
  },
}

type Kind = 'last' | 'early' | 'output' | 'end' | 'comment' | 'broken'
interface Piece {
  readonly kind: Kind
  readonly usage: object
  readonly print: number
  readonly name: boolean
}

const KINDS: readonly Kind[] = ['last', 'early', 'output', 'end', 'comment', 'broken']
const PIECE: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constantFrom(...KINDS),
  usage: fc.constantFrom(...USAGES),
  print: fc.nat({ max: 3 }),
  name: fc.boolean(),
})

function write({ place, ...dialect }: Dialect, { kind, usage, print, name }: Piece): string {
  if (kind === 'comment') return ': "usage"\n\n'
  if (kind === 'broken') return 'data: {"usage": {"cost": 1}, "choices\n\n'
  if (kind === 'end') return `data: ${dialect.end}\n\n`
  const event = kind === 'output' ? dialect.output : dialect[kind](usage)
  const head = name ? 'event: message_delta\n' : ''
  const text = JSON.stringify(event, undefined, print === 1 ? 1 : 0)
  if (print === 1) return `${head}${text.replaceAll(/^/gm, 'data: ')}\n\n`
  if (print === 2) return `${head}data:${text}\r\n\r\n`
  return `${head}data: ${text}\n\n`
}

/** Returns what leaves at once, in order, and at the end. */
function run(place: UsagePlace, stream: Buffer, cuts: readonly number[], figure?: CostFigure) {
  const tail = new UsageTail(place)
  const early: Buffer[] = []
  let from = 0
  for (const cut of [...cuts, stream.length].sort((a, b) => a - b)) {
    early.push(tail.push(stream.subarray(from, Math.max(from, cut))))
    from = Math.max(from, cut)
  }
  return { early: Buffer.concat(early).toString(), last: tail.end(figure).toString() }
}

/** Returns the documents of a stream whose events are separated by blank lines. */
function documents(stream: string): unknown[] {
  return stream.split(/\r\n\r\n|\n\n/).flatMap((frame) => {
    const data = frame.split(/\r\n|\n/).filter((line) => line.startsWith('data:'))
    const text = data.map((line) => line.slice(5)).join('\n')
    try {
      return [JSON.parse(text)]
    } catch {
      return [frame]
    }
  })
}

/** Returns what a document has as usage at the path, whatever it is. */
function usageOf(document: unknown, path: readonly string[]): Record<string, unknown> | undefined {
  let value = document as Record<string, unknown> | undefined
  for (const step of path) value = value?.[step] as Record<string, unknown> | undefined
  return typeof value === 'object' && value !== null ? value : undefined
}

for (const [name, dialect] of Object.entries(DIALECTS)) {
  const { place } = dialect
  const streams = fc.array(PIECE, { maxLength: 12 }).chain((pieces) => {
    const texts = pieces.map((piece) => write(dialect, piece))
    const stream = Buffer.from(texts.join(''))
    const cuts = fc.array(fc.nat({ max: stream.length }), { maxLength: 20 })
    return fc.record({ pieces: fc.constant(pieces), stream: fc.constant(stream), cuts })
  })

  test(`the last usage of any ${name} stream has the charge, and nothing else changes`, () => {
    const property = fc.property(streams, ({ pieces, stream, cuts }) => {
      const { early, last } = run(place, stream, cuts, FIGURE)
      const before = documents(stream.toString())
      const after = documents(early + last)
      const position = placeOfLast(pieces)
      assert.equal(after.length, before.length)
      for (const [index, document] of before.entries()) {
        const usage = usageOf(document, place.path)
        if (usage) delete usage.cost
        if (usage && index === position) usage.cost = 0.00123
      }
      assert.deepEqual(after, before)
      assert.equal(documents(early).includes(FIGURE.cost), false)
      // Cut in other places, it is the same stream.
      const whole = run(place, stream, [], FIGURE)
      assert.equal(early + last, whole.early + whole.last)
    })
    fc.assert(property, { numRuns: 300 })
  })

  test(`without a figure a ${name} stream keeps its bytes, but not the vendor's cost`, () => {
    const property = fc.property(streams, ({ pieces, stream, cuts }) => {
      const { early, last } = run(place, stream, cuts)
      const hasCost = pieces.some(({ usage }) => 'cost' in usage)
      if (!hasCost) assert.equal(early + last, stream.toString())
      for (const document of documents(early + last)) {
        assert.equal(usageOf(document, place.path)?.cost, undefined)
      }
    })
    fc.assert(property, { numRuns: 300 })
  })
}

/** Returns the index of the event that has the charge: usage with no output behind it. */
function placeOfLast(pieces: readonly Piece[]): number {
  const at = pieces.findLastIndex(({ kind }) => kind === 'last')
  const behind = pieces.slice(at + 1)
  return behind.some(({ kind }) => kind === 'early' || kind === 'output') ? -1 : at
}

test('only the end of a stream waits: the rest leaves with the bytes that end its event', () => {
  const { place, output, last, end } = DIALECTS.chat as Dialect
  const tail = new UsageTail(place)
  const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`
  const pushed = (text: string) => tail.push(Buffer.from(text)).toString()
  assert.equal(pushed(event(output)), event(output))
  assert.equal(pushed(event(last({})).slice(0, 20)), '')
  assert.equal(pushed(`${event(last({})).slice(20)}data: ${end}\n\n`), '')
  assert.match(tail.end(FIGURE).toString(), /"usage":\{"cost":0\.00123\}\}\n\ndata: \[DONE\]\n\n$/)
  assert.equal(tail.end(FIGURE).length, 0)
})

test('what is too long behind a usage is not held', () => {
  const { place, last } = DIALECTS.chat as Dialect
  const usage = Buffer.from(`data: ${JSON.stringify(last({ a: 1 }))}\n\n`)
  const comments = Buffer.from(`: ${'x'.repeat(1000)}\n\n`.repeat(300))
  const tail = new UsageTail(place)
  assert.equal(tail.push(usage).length, 0)
  assert.deepEqual(tail.push(comments), Buffer.concat([usage, comments]))
})

test('a document keeps its bytes but for the charge, whatever its numbers and names are', () => {
  const body =
    '{"b":1.50e0, "usage" : { "x" : 1.0 ,"cost": 3},"a":"\\u00e9","big":12345678901234567890}'
  const stated = stateCost(Buffer.from(body), { cost: '0.000000001', basis: 'estimate' })
  assert.equal(
    stated.toString(),
    body.replace('"cost": 3', '"cost": 0.000000001,"cost_basis":"estimate"'),
  )
  const without = stateCost(Buffer.from(body), undefined).toString()
  assert.equal(without, body.replace(' ,"cost": 3', ''))
  for (const other of ['{"usage":7}', '["usage"]', '{"usage":', '', '{"usage":1,"usage":null}']) {
    assert.equal(stateCost(Buffer.from(other), FIGURE).toString(), other)
  }
})

test('a document without usage in its place gets one with the charge alone', () => {
  const own = ' {"choices": [{"usage":{"cost":9}}], "x":1.50}'
  const bodies = ['{}', '{"id":"x"}', '{"usage": null,"a":2.0}', '\ufeff{"a":1}', own]
  for (const body of bodies) {
    const stated = stateCost(Buffer.from(body), { cost: '0.5', basis: 'estimate' }).toString()
    const { usage, ...rest } = JSON.parse(stated.replace('\ufeff', ''))
    assert.deepEqual(usage, { cost: 0.5, cost_basis: 'estimate' })
    const { usage: _, ...before } = JSON.parse(body.replace('\ufeff', ''))
    assert.deepEqual(rest, before)
    assert.equal(stateCost(Buffer.from(body), undefined).toString(), body)
  }
  assert.match(stateCost(Buffer.from(own), FIGURE).toString(), /"x":1\.50/)
})

test('a cost that a vendor states twice is taken out twice', () => {
  const twice = Buffer.from('{"usage":{"cost":1,"tokens":2,"cost":3}}')
  assert.equal(stateCost(twice, undefined).toString(), '{"usage":{"tokens":2}}')
  assert.equal(stateCost(twice, { cost: '0.5' }).toString(), '{"usage":{"tokens":2,"cost":0.5}}')
})

for (const [name, { place, last, end }] of Object.entries(DIALECTS)) {
  test(`${name}: a usage whose name has escapes states the charge and no other cost`, () => {
    const escaped = (document: object) =>
      JSON.stringify(document)
        .replace('"usage"', String.raw`"\u0075s\u0061ge"`)
        .replace('"cost"', String.raw`"c\u006Fst"`)
    const usage = { cost: 9, total_tokens: 3 }
    const body = stateCost(Buffer.from(escaped({ usage })), FIGURE).toString()
    assert.deepEqual(JSON.parse(body), { usage: { cost: 0.00123, total_tokens: 3 } })
    assert.equal(stateCost(Buffer.from(escaped({ usage })), undefined).includes('9'), false)
    const tail = new UsageTail(place)
    const stream = `data: ${escaped(last(usage))}\n\ndata: ${end}\n\n`
    const shown = `${tail.push(Buffer.from(stream))}${tail.end(FIGURE)}`
    const [, event = ''] = /^data: (.*)$/m.exec(shown) ?? []
    const expected = last({ cost: 0.00123, total_tokens: 3 })
    assert.deepEqual(JSON.parse(event), JSON.parse(JSON.stringify(expected)))
  })
}

test('a line break that arrives in two pieces still ends its event', () => {
  const event = { type: 'response.in_progress', response: { usage: { cost: 9 } } }
  const lines = JSON.stringify(event, undefined, 1).replaceAll(/^/gm, 'data: ')
  const stream = Buffer.from(`data: {}\r\n\r\n${lines}\n\n`)
  const { early } = run(RESPONSES_USAGE, stream, [stream.indexOf('\r\n\r\n') + 3], FIGURE)
  assert.deepEqual(documents(early), [{}, { ...event, response: { usage: {} } }, ''])
})
