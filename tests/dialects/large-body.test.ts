/** A large whole answer is read without its long strings, and leaves as it came. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortenStrings } from '../../server/base/lib/text/shorten-json.ts'
import { readChatBody } from '../../server/wire/dialects/chat/read-body.ts'
import { createLargeBodyTap } from '../../server/wire/dialects/tap.ts'

const LONG = 'a "quoted" word\n and \\ é '.repeat(100_000)
const USAGE = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }

function relay(content: string, usage: object | undefined) {
  const message = { role: 'assistant', content }
  const document = { id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
  const body = Buffer.from(JSON.stringify(document))
  const parsed: unknown[] = []
  const tap = createLargeBodyTap((one) => {
    parsed.push(one)
    return readChatBody(one)
  })
  tap.push(body)
  assert.deepEqual(tap.end(), body)
  return { report: tap.report(), sizes: parsed.map((one) => JSON.stringify(one).length) }
}

const plain = 'x'.repeat(2_000_000)

test('the usage of a large answer is read, its text is not', () => {
  const { report, sizes } = relay(plain, USAGE)
  assert.deepEqual(report.usage, { input_token: 10, output_token: 20 })
  assert.ok(
    sizes.every((size) => size < 1_000),
    `${sizes}`,
  )
})

test('all that an answer of 100 KB states is what the whole of it states', () => {
  const content = `${'All work and no play.\\n'.repeat(60)}"`.repeat(80)
  const calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: content } }]
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }]
  const messages = [{ content }, { content: null, tool_calls: calls }, { content, annotations }]
  for (const message of messages) {
    for (const usage of [USAGE, { ...USAGE, prompt_tokens_details: { cached_tokens: 4 } }]) {
      const choices = [{ index: 0, message: { role: 'assistant', ...message } }]
      const document = { id: 'x', service_tier: 'flex', choices, usage }
      const seen: unknown[] = []
      const tap = createLargeBodyTap((one) => {
        seen.push(one)
        return readChatBody(one)
      })
      tap.push(Buffer.from(JSON.stringify(document)))
      tap.end()
      const { outputBytes: _of, finished: _finished, ...report } = tap.report()
      const { outputBytes: _bytes, ...whole } = readChatBody(document)
      assert.deepEqual(report, whole)
      assert.ok(seen.every((one) => JSON.stringify(one).length < 1_000))
    }
  }
})

test('without a stated output the text is read after all', () => {
  assert.equal(relay(plain, undefined).report.outputBytes, plain.length)
  assert.equal(relay(plain, { prompt_tokens: 10 }).report.outputBytes, plain.length)
  const [mixed, of] = [relay(LONG, undefined), Buffer.byteLength(LONG)]
  assert.equal(mixed.report.outputBytes, of)
})

test('strings are found between others, with escapes of any kind', () => {
  const long = 'l'.repeat(70_000)
  const values = { '"\\': `${long}\\`, b: [`"${long}"`, `${long}\\\\"`, 'short\\'], [long]: '\\"' }
  const short = shortenStrings(Buffer.from(JSON.stringify(values)))
  assert.deepEqual(JSON.parse(String(short)), { '"\\': '-', b: ['-', '-', 'short\\'], '-': '\\"' })
  assert.equal(shortenStrings(Buffer.from(JSON.stringify({ a: 'short' }))), undefined)
  assert.equal(shortenStrings(Buffer.from(JSON.stringify(Array(10_000).fill('')))), undefined)
})
