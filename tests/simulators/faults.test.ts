// Every fault of the kernel, seen on a raw socket.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chat, dataLines, KEYS, rawPost, simulated } from './support.ts'

const sim = simulated()
const PATH = '/openai/v1/chat/completions'
const stream = { stream: true, stream_options: { include_usage: true } }
const whole = (content: string, more = {}) =>
  rawPost(sim.url + PATH, KEYS.openai, chat(content), more)
const streamed = (content: string, more = {}) =>
  rawPost(sim.url + PATH, KEYS.openai, chat(content, stream), more)

async function booked(marker: string) {
  await sim.running.book.settled()
  const entries = sim.running.book.entries({ marker })
  assert.equal(entries.length, 1, 'exactly one entry')
  return entries[0]
}

describe('faults instead of an answer', () => {
  test('status with the vendor body and retry-after', async () => {
    const { head, body } = await whole('[[fault:status=503;retry-after=7]][[call:f-503]]')
    assert.match(head, /^HTTP\/1\.1 503 /)
    assert.match(head, /retry-after: 7/)
    assert.equal(JSON.parse(body.toString()).error.type, 'server_error')
    assert.equal((await booked('f-503'))?.billed, false)
  })

  test('status with another code and message', async () => {
    const { body } = await whole('[[fault:status=429;error-code=insufficient_quota]]')
    assert.equal(JSON.parse(body.toString()).error.code, 'insufficient_quota')
    const long = await whole('[[fault:status=400;error-code=context_length_exceeded]]')
    assert.match(JSON.parse(long.body.toString()).error.message, /maximum context length/)
  })

  test('reset and close before the head differ and are not billed', async () => {
    const reset = await whole('[[fault:reset-before-head]][[call:f-reset]]')
    assert.equal(reset.ending, 'reset')
    assert.equal(reset.head, '')
    assert.equal((await booked('f-reset'))?.billed, false)
    const closed = await whole('[[fault:close-before-head]]')
    assert.equal(closed.ending, 'closed')
    assert.equal(closed.head, '')
  })

  test('a vendor may bill an answer that never left', async () => {
    await whole('[[fault:reset-before-head;bill=full]][[call:f-billed]]')
    assert.equal((await booked('f-billed'))?.billed, true)
  })

  test('an error body under 200', async () => {
    const { head, body } = await whole('[[fault:error-200]][[call:f-200]]')
    assert.match(head, /^HTTP\/1\.1 200 /)
    assert.ok(JSON.parse(body.toString()).error.message)
    assert.equal((await booked('f-200'))?.billed, false)
  })
})

describe('faults of time', () => {
  test('delay-head, delay-first-byte and drip', async () => {
    const late = await whole('[[fault:delay-head=400]]', { timeoutMs: 100 })
    assert.equal(late.ending, 'silent')
    assert.equal(late.head, '')
    const leaving = new AbortController()
    const early = await fetch(sim.url + PATH, {
      method: 'POST',
      headers: { ...KEYS.openai, 'content-type': 'application/json' },
      body: JSON.stringify(chat('[[fault:delay-first-byte=60000;stops-on-cancel]]', stream)),
      signal: leaving.signal,
    })
    assert.equal(early.status, 200)
    const first = early.body?.getReader().read()
    // What was sent before would have arrived before.
    const later = await Promise.race([streamed('hello'), first])
    assert.ok(later && 'ending' in later)
    leaving.abort()
    await assert.rejects(async () => first, { name: 'AbortError' })
    const drip = await streamed('[[fault:drip=1;drip-bytes=40]][[say:ab]]')
    assert.equal(drip.ending, 'complete')
    assert.ok(drip.pieces.every((piece) => piece.length <= 40))
  })

  test('a stall leaves the socket open; what was generated is billed when the client goes', async () => {
    const sent = '[[tokens:40]][[chunks:10]][[fault:stall-mid=3]][[call:f-stall]]'
    const { body } = await streamed(sent, { leaveAfter: /(?:data: [\s\S]*?\n\n[\s\S]*?){3}/ })
    assert.equal(dataLines(body.toString()).length, 3)
    const entry = await booked('f-stall')
    assert.equal(entry?.units.output_token, 8)
    assert.equal(entry?.reason, 'stalled')
  })

  test('an endless stream goes on until the client leaves', async () => {
    const sent = '[[tokens:4]][[chunks:2]][[fault:endless]][[call:f-endless]]'
    const { body } = await streamed(sent, { leaveAfterBytes: 20_000 })
    assert.ok(
      dataLines(
        body
          .toString()
          .slice(0, 19_000)
          .replace(/data: [^\n]*$/, ''),
      ).length > 20,
    )
    assert.ok(((await booked('f-endless'))?.units.output_token ?? 0) > 20)
  })
})

describe('faults of the connection', () => {
  test('cut after n bytes, whole and streamed', async () => {
    for (const send of [whole, streamed]) {
      const { ending, body } = await send('[[fault:cut-after-bytes=90]]')
      assert.equal(body.length, 90)
      assert.equal(ending, 'closed')
    }
  })

  test('cut one byte before the end is billed in full', async () => {
    const { ending, body } = await streamed('[[tokens:9]][[fault:cut-before-end=1]][[call:f-one]]')
    assert.equal(ending, 'closed')
    assert.ok(body.toString().endsWith('data: [DONE]\n'))
    assert.equal((await booked('f-one'))?.units.output_token, 9)
  })

  test('reset after n events', async () => {
    const { ending, body } = await streamed('[[tokens:40]][[fault:reset-mid=4]][[call:f-mid]]')
    assert.equal(ending, 'reset')
    assert.equal(dataLines(body.toString()).length, 4)
    assert.equal((await booked('f-mid'))?.units.output_token, 40)
  })

  test('a client that leaves is billed in full, unless the channel stops on cancel', async () => {
    const slow = '[[tokens:100]][[chunks:20]][[chunk-delay:5]]'
    await streamed(`${slow}[[call:f-left]]`, { leaveAfterBytes: 900 })
    assert.equal((await booked('f-left'))?.units.output_token, 100)
    await streamed(`${slow}[[fault:stops-on-cancel]][[call:f-stopped]]`, { leaveAfterBytes: 900 })
    const stopped = (await booked('f-stopped'))?.units.output_token ?? 0
    assert.ok(stopped > 0 && stopped < 100, String(stopped))
  })
})

describe('faults of the bytes', () => {
  test('one-byte writes, and writes that split characters', async () => {
    const bytes = await streamed('[[say:é]][[fault:split=bytes]]')
    assert.ok(bytes.pieces.every((piece) => piece.length === 1))
    const inside = await streamed('[[say:你好]][[chunks:1]][[fault:split=utf8]]')
    assert.ok(inside.pieces.some((piece) => piece.toString().includes('\uFFFD')))
    assert.match(inside.body.toString(), /你好/)
  })

  test('a chunk that does not parse', async () => {
    const { body } = await streamed('[[fault:bad-chunk=2]]')
    const lines = body.toString().split('\n\n')
    assert.doesNotThrow(() => JSON.parse((lines[0] ?? '').slice(6)))
    assert.throws(() => JSON.parse((lines[1] ?? '').slice(6)))
    const { body: bad } = await whole('[[fault:bad-chunk]]')
    assert.throws(() => JSON.parse(bad.toString()))
  })

  test('a huge line', async () => {
    const { body } = await streamed('[[fault:huge-line=300000]]')
    const longest = Math.max(
      ...body
        .toString()
        .split('\n')
        .map((line) => line.length),
    )
    assert.ok(longest > 300_000)
  })

  test('unusual framings of the event stream', async () => {
    const crlf = await streamed('[[fault:c_crlf]]')
    assert.ok(!/[^\r]\n/.test(crlf.body.toString()))
    const cr = await streamed('[[fault:cr]]')
    assert.ok(!cr.body.includes('\n'))
    const comments = await streamed('[[fault:comments]]')
    assert.match(comments.body.toString(), /^: OPENROUTER PROCESSING$/m)
    const several = await streamed('[[fault:c_multiline]]')
    assert.match(several.body.toString(), /^data: \{\ndata: +"id"/)
    const open = await streamed('[[fault:no-final-blank]]')
    assert.ok(open.body.toString().endsWith('data: [DONE]'))
  })

  test('JSON to a stream request and a stream to a JSON request', async () => {
    const json = await streamed('[[fault:json-for-stream]]')
    assert.match(json.head, /application\/json/)
    assert.equal(JSON.parse(json.body.toString()).object, 'chat.completion')
    const events = await whole('[[fault:stream-for-json]]')
    assert.match(events.head, /text\/event-stream/)
  })

  test('duplicate ids', async () => {
    const ids = await Promise.all(
      [1, 2].map(
        async () => JSON.parse((await whole('[[fault:duplicate-id]]')).body.toString()).id,
      ),
    )
    assert.equal(ids[0], ids[1])
  })
})

describe('faults of usage', () => {
  const single: [string, (usage: Record<string, unknown> | null | undefined) => boolean][] = [
    ['absent', (usage) => usage === undefined],
    ['null', (usage) => usage === null],
    ['zero', (usage) => usage?.completion_tokens === 0],
    ['wrong', (usage) => usage?.completion_tokens === 10 * 3 + 7],
    ['double', (usage) => usage?.completion_tokens === 20],
    ['negative', (usage) => usage?.completion_tokens === -10],
    ['string', (usage) => usage?.completion_tokens === '10'],
    ['float', (usage) => usage?.completion_tokens === 10.5],
    ['huge', (usage) => usage?.completion_tokens === 1e18],
  ]
  for (const [how, holds] of single) {
    test(`${how}: on the wire, but not in the book`, async () => {
      const sent = `[[tokens:10]][[fault:usage=${how}]][[call:u-${how}]]`
      const { body } = await whole(sent)
      assert.ok(holds(JSON.parse(body.toString()).usage))
      assert.equal((await booked(`u-${how}`))?.units.output_token, 10)
      const chunks = dataLines((await streamed(sent.replace('[[call', '[[xcall'))).body.toString())
      const last = chunks.findLast((chunk) => !chunk.choices?.[0])
      assert.ok(how === 'absent' ? last === undefined : holds(last?.usage))
    })
  }

  test('twice and shrinking send two, of which the last is true', async () => {
    for (const [how, first] of [
      ['twice', 10],
      ['shrinking', 30],
    ] as const) {
      const { body } = await streamed(`[[tokens:10]][[fault:usage=${how}]]`)
      const usages = dataLines(body.toString()).filter((chunk) => chunk.usage)
      assert.deepEqual(
        usages.map((chunk) => chunk.usage?.completion_tokens),
        [first, 10],
      )
    }
  })
})

describe('errors inside a stream', () => {
  const shapes: [string, RegExp][] = [
    ['nested', /^data: \{"error":\{"message"/m],
    ['flat', /^data: \{"error":"[^"]+","type"/m],
    ['in-choice', /"finish_reason":"error"/],
    ['event', /^event: error$/m],
  ]
  for (const [shape, expected] of shapes) {
    test(shape, async () => {
      const sent = `[[fault:error-mid=${shape};at=2]][[call:m-${shape}]]`
      const { body, ending } = await streamed(sent)
      assert.match(body.toString(), expected)
      assert.ok(!body.includes('[DONE]'))
      assert.equal(ending, 'complete')
      assert.equal((await booked(`m-${shape}`))?.billed, false)
    })
  }
})
