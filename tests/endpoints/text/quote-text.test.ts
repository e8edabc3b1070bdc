/** Holds and ceilings of text requests, for requests with tricks. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import fc from 'fast-check'
import {
  readPricedTools,
  UNKNOWN_TOOL,
} from '../../../server/api/endpoints/text/billing/priced-options.ts'
import { estimateText } from '../../../server/api/endpoints/text/billing/text-billing.ts'
import { chatCompletions } from '../../../server/api/endpoints/text/chat-completions.ts'
import { embeddings } from '../../../server/api/endpoints/text/embeddings.ts'
import { messagesEndpoint } from '../../../server/api/endpoints/text/messages.ts'
import { responses } from '../../../server/api/endpoints/text/responses.ts'
import { parseRequestJson } from '../../../server/wire/dialects/request-json/parse.ts'
import type { Estimate, QuotedRequest } from '../../../server/work/pipeline/metering.ts'
import { computeCharge } from '../../../server/work/pipeline/price/charge.ts'
import { boundHold, type HoldEstimate } from '../../../server/work/pipeline/price/hold-estimate.ts'
import { anyText } from '../../support/any-text.ts'
import { model } from './priced-model.ts'

const DIALECTS = {
  chat: chatCompletions.metering,
  responses: responses.metering,
  messages: messagesEndpoint.metering,
  embeddings: embeddings.metering,
} as const
type Dialect = keyof typeof DIALECTS

function quote(dialect: Dialect, text: string, more: Partial<QuotedRequest> = {}): Estimate {
  const body = Buffer.from(text)
  const parsed = parseRequestJson(body)
  assert.ok(parsed.ok, text.slice(0, 200))
  const { value, fields } = parsed
  return DIALECTS[dialect].quote({ body, value, fields, headers: {}, model, ...more })
}

/** Returns a body of each dialect with one text, and with further members verbatim. */
function write(dialect: Dialect, text: string, members = ''): string {
  const written = JSON.stringify(text)
  const inner = {
    chat: `"messages":[{"role":"user","content":${written}}]`,
    responses: `"input":${written}`,
    messages: `"max_tokens":64,"messages":[{"role":"user","content":${written}}]`,
    embeddings: `"input":${written}`,
  }[dialect]
  return `{"model":"m",${inner}${members}}`
}

function heldOf({ quantities, ceiling, dimensions }: Estimate): HoldEstimate {
  const { alternatives } = dimensions ?? { alternatives: [{}] as const }
  return { quantities, alternatives, channels: [{}], ceiling }
}

const inputOf = ({ quantities }: Estimate) => quantities.input_token ?? 0

const dialects = fc.constantFrom<Dialect[]>('chat', 'responses', 'messages', 'embeddings')

/** Texts that look like other data, or whose size changes when they are serialised. */
const texts = fc.oneof(
  anyText({ maxLength: 3_000 }),
  fc.string({ maxLength: 2_000 }).map((text) => `data:image/png;base64,${text}`),
  fc.string({ maxLength: 500 }).map((text) => `data:${text}`),
  fc.base64String({ maxLength: 4_000 }),
  fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 2_000 }).map((digits) => digits.join('')),
  fc.constantFrom('\u0000'.repeat(300), '"\\'.repeat(300), 'ﷺ'.repeat(300), '😀'.repeat(200)),
)

/** Members that hide text, repeat a limit, or have a meaning at other vendors. */
const names = fc.constantFrom(
  'functions',
  'tools_',
  'response_format',
  'metadata',
  'type',
  'signature',
  'source',
  'data',
  'image_url',
  'file_data',
  'input_audio',
  'prediction_',
  'content',
  'cache',
  'x',
  '__proto__',
)
const members = fc
  .dictionary(names, fc.oneof(texts, fc.jsonValue({ maxDepth: 3 })), { maxKeys: 4 })
  .map((extra) => {
    const written = JSON.stringify(extra).slice(1, -1)
    return written === '' ? '' : `,${written}`
  })

test('the ceiling is above one token per byte of text, in any member', () => {
  fc.assert(
    fc.property(dialects, texts, members, (dialect, text, extra) => {
      const body = write(dialect, text, extra)
      const decoded = JSON.stringify(JSON.parse(body)).length
      const { ceiling } = quote(dialect, body)
      assert.ok(ceiling.inputTokens >= Buffer.byteLength(text) + 16_384)
      assert.ok(ceiling.inputTokens >= decoded / 6)
      assert.ok(ceiling.outputTokens >= 8_192)
    }),
    { numRuns: 1_000 },
  )
})

test('no member lowers hold or ceiling below those of the text alone', () => {
  fc.assert(
    fc.property(dialects, texts, members, (dialect, text, extra) => {
      const plain = quote(dialect, write(dialect, text))
      const tricked = quote(dialect, write(dialect, text, extra))
      assert.ok(inputOf(tricked) >= inputOf(plain))
      assert.ok(tricked.ceiling.inputTokens >= plain.ceiling.inputTokens)
      assert.ok(tricked.ceiling.outputTokens >= plain.ceiling.outputTokens)
      assert.ok(boundHold(model, heldOf(tricked)) >= boundHold(model, heldOf(plain)))
    }),
    { numRuns: 1_000 },
  )
})

test('more bytes never lower the hold', () => {
  fc.assert(
    fc.property(dialects, texts, texts, (dialect, text, more) => {
      const least = quote(dialect, write(dialect, text))
      const most = quote(dialect, write(dialect, text + more))
      assert.ok(inputOf(most) >= inputOf(least))
      assert.ok(most.ceiling.inputTokens >= least.ceiling.inputTokens)
    }),
    { numRuns: 500 },
  )
})

const quantities = fc.record(
  {
    input_token: fc.integer({ min: 0, max: 500_000 }),
    cached_input_token: fc.integer({ min: 0, max: 500_000 }),
    output_token: fc.integer({ min: 0, max: 20_000 }),
  },
  { requiredKeys: [] },
)

test('usage within the ceiling is charged as stated, an estimate never exceeds the hold', () => {
  fc.assert(
    fc.property(
      ...([dialects, texts, members, quantities, fc.nat(10_000_000), fc.boolean()] as const),
      (dialect, text, extra, usage, outputBytes, complete) => {
        const { needs, fallback } = DIALECTS[dialect]
        const held = heldOf(quote(dialect, write(dialect, text, extra)))
        const holdNanos = boundHold(model, held)
        const input = { estimateInputTokens: () => inputOf(held as Estimate) } as never
        const charge = (stated: typeof usage) => {
          const report = { outputBytes, finished: complete, usage: stated }
          return computeCharge({
            model,
            facts: {},
            holdNanos,
            holdEstimate: held,
            report,
            complete,
            billsBroken: true,
            ...(needs ? { needs } : {}),
            fallback: () => fallback(input, report, complete),
          })
        }
        const { input_token: fresh = 0, cached_input_token: cached = 0 } = usage
        const { output_token: output = 0 } = usage
        const worth = BigInt(fresh + cached) * 3n + BigInt(output) * 15n
        const { inputTokens, outputTokens } = held.ceiling
        const isWhole =
          'output_token' in usage && ('input_token' in usage || 'cached_input_token' in usage)
        const isWithin = fresh + cached <= inputTokens && output <= outputTokens
        const { nanos, review } = charge(usage)
        if (isWhole && isWithin) assert.deepEqual([nanos, review], [worth, false])
        if (isWithin && nanos !== null) {
          assert.ok(nanos >= worth && nanos <= (worth > holdNanos ? worth : holdNanos))
        }
        const estimated = charge({}).nanos
        assert.ok(estimated === null || estimated <= holdNanos)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('known tricks: the usage that the vendor counts is within the ceiling', () => {
  const big = 'word '.repeat(80_000)
  const written = JSON.stringify(big)
  const names = Array.from({ length: 80 }, (_, n) => `"${n} ${'word '.repeat(1_000)}":1`).join(',')
  const bodies: readonly (readonly [Dialect, string])[] = [
    ['chat', write('chat', `data:${big}`)],
    ['chat', write('chat', `data:image/png;base64,${big}`)],
    ['chat', write('chat', 'hi', `,"functions":[{"name":"f","description":${written}}]`)],
    [
      'chat',
      write('chat', 'hi', `,"response_format":{"type":"json_schema","json_schema":${written}}`),
    ],
    ['chat', write('chat', 'hi', `,"prediction":{"type":"content","content":${written}}`)],
    [
      'chat',
      write('chat', 'hi', `,"tools":[{"type":"function","function":{"description":${written}}}]`),
    ],
    [
      'chat',
      `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"},"text":${written}}]}]}`,
    ],
    ['chat', `{"model":"m","messages":[{"role":"user","content":"","x":${written},"y":""}]}`],
    ['chat', `{"model":"m","messages":[{"role":"user",${names},"content":"hi"}]}`],
    [
      'responses',
      write('responses', 'hi', `,"text":{"format":{"type":"json_schema","schema":${written}}}`),
    ],
    ['responses', write('responses', 'hi', `,"instructions":${written}`)],
    ['messages', write('messages', 'hi', `,"system":[{"type":"text","text":${written}}]`)],
    [
      'messages',
      `{"model":"m","max_tokens":5,"messages":[{"role":"assistant","content":[{"type":"thinking","signature":${written}}]}]}`,
    ],
    [
      'messages',
      `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","data":${written}}}]}]}`,
    ],
    ['embeddings', write('embeddings', `data:${big}`)],
  ]
  for (const [dialect, body] of bodies) {
    const { ceiling, quantities: held } = quote(dialect, body)
    assert.ok((held.input_token ?? 0) >= 100_000, `${dialect}: ${body.slice(0, 150)}`)
    assert.ok(ceiling.inputTokens >= 400_000, `${dialect}: ${body.slice(0, 150)}`)
  }
})

test('the largest of several limits counts; null is none, and foreign names only raise it', () => {
  const outputOf = (extra: string, dialect: Dialect = 'chat') =>
    quote(dialect, write(dialect, 'hi', extra)).quantities.output_token
  assert.equal(outputOf(''), 8_192)
  assert.equal(outputOf(',"max_tokens":10'), 10)
  assert.equal(outputOf(',"max_completion_tokens":null,"max_tokens":100000'), 100_000)
  assert.equal(outputOf(',"max_completion_tokens":10,"max_tokens":20'), 20)
  assert.equal(outputOf(',"max_output_tokens":1'), 8_192, 'a limit of another dialect')
  assert.equal(outputOf(',"max_output_tokens":9000'), 9_000)
  assert.equal(outputOf(',"max_tokens":10,"n":3'), 30)
  assert.equal(outputOf(',"max_tokens":10,"n":3,"best_of":5'), 50)
  assert.equal(outputOf(',"max_output_tokens":null', 'responses'), 8_192)
})

test('numbers in an embedding request are tokens', () => {
  const numbers = Array.from({ length: 5_000 }, () => 7)
  for (const input of [numbers, [numbers, numbers]]) {
    const count = input.flat().length
    const { quantities: held, ceiling } = quote('embeddings', JSON.stringify({ model: 'm', input }))
    assert.ok((held.input_token ?? 0) >= count)
    assert.ok(ceiling.inputTokens >= count)
  }
})

test('an earlier answer is input again; one of unknown length is bounded by the model', () => {
  const body = write('responses', 'hi', ',"previous_response_id":"resp_1"')
  const none = quote('responses', write('responses', 'hi'))
  const known = quote('responses', body, { chain: { tokens: 50_000 } })
  assert.ok(inputOf(known) >= inputOf(none) + 50_000)
  assert.ok(known.ceiling.inputTokens >= none.ceiling.inputTokens + 50_000)
  const unknown = quote('responses', body, { chain: { tokens: null } })
  assert.ok(unknown.ceiling.inputTokens >= 1_000_000)
})

test('input from outside the body is bounded by the model', () => {
  for (const [dialect, extra] of [
    ['responses', ',"conversation":"conv_1"'],
    ['responses', ',"prompt":{"id":"pmpt_1"}'],
    ['responses', ',"tools":[{"type":"mcp","server_url":"https://a.example"}]'],
    ['chat', ',"extra_body":{"cached_content":"c"}'],
    ['messages', ',"mcp_servers":[{"url":"https://a.example"}]'],
    ['messages', ',"container":"c_1"'],
  ] as const) {
    const { ceiling } = quote(dialect, write(dialect, 'hi', extra))
    assert.ok(ceiling.inputTokens >= 1_000_000, extra)
  }
})

test('a member in another letter case is refused with its name', () => {
  for (const [dialect, name] of [
    ['chat', 'Service_Tier'],
    ['chat', 'N'],
    ['chat', 'MODELS'],
    ['responses', 'Previous_Response_Id'],
    ['responses', 'Conversation'],
    ['messages', 'Speed'],
    ['messages', '\u017fpeed'],
    ['embeddings', 'Service_tier'],
  ] as const) {
    assert.throws(
      () => quote(dialect, write(dialect, 'hi', `,"${name}":1`)),
      (error: Error) => error.message.startsWith(`${name}: `),
    )
  }
  quote('chat', write('chat', 'hi', ',"X_Own":1,"extra_body":{"N":2}'))
})

test('several answers requested by an unknown name are within the ceiling', () => {
  for (const name of ['candidate_count', 'num_choices', 'num_return_sequences']) {
    const { ceiling } = quote('chat', write('chat', 'hi', `,"max_tokens":5,"${name}":8`))
    assert.ok(ceiling.outputTokens >= 8 * 8_192, name)
  }
  const { quantities: held, streamTokens = 0 } = quote(
    'chat',
    write('chat', 'hi', ',"max_tokens":8000,"candidate_count":100,"stream":true'),
  )
  assert.equal(held.output_token, 800_000)
  assert.ok(streamTokens >= 800_000, 'no stream is cut before its requested length')
  for (const name of ['answers', 'x_n']) {
    const { ceiling } = quote('chat', write('chat', 'hi', `,"max_tokens":5,"${name}":8`))
    assert.ok(ceiling.outputTokens >= 8 * 8_192, name)
  }
})

test('what is no word for thinking is not written out to read it', () => {
  const body = Buffer.from(write('chat', 'hi'))
  const parsed = parseRequestJson(body)
  assert.ok(parsed.ok)
  const toJSON = mock.fn(() => 'true')
  const value = { ...parsed.value, enable_thinking: { toJSON } }
  DIALECTS.chat.quote({ body, value, fields: parsed.fields, headers: {}, model })
  assert.equal(toJSON.mock.callCount(), 0)
})

test('thinking beyond the output limit is within the ceiling, and not in the hold', () => {
  // Qwen: up to 81,920 tokens beside those of the answer, which alone its limit bounds.
  for (const dialect of ['chat', 'responses', 'messages'] as const) {
    const { quantities: held, ceiling, streamTokens } = quote(dialect, write(dialect, 'hi'))
    assert.ok(ceiling.outputTokens >= 8_192 + 81_920, dialect)
    assert.equal(streamTokens, 8_192, 'streams without an end are cut as early')
    assert.ok((held.output_token ?? 0) <= 8_192, dialect)
  }
})

test('any truthy value requests a search; a type in two spellings is unknown', () => {
  const featuresOf = (extra: string, dialect: Dialect = 'chat') =>
    quote(dialect, write(dialect, 'hi', extra)).dimensions?.features.map(({ field }) => field)
  for (const name of ['enable_search', 'web_search_options', 'search_parameters']) {
    for (const yes of ['true', '1', '"true"', '{}', '[]']) {
      assert.deepEqual(featuresOf(`,"${name}":${yes}`), [name], yes)
    }
    for (const no of ['null', 'false']) assert.deepEqual(featuresOf(`,"${name}":${no}`), [], no)
  }
  for (const dialect of ['chat', 'responses', 'messages'] as const) {
    for (const stored of ['{"type":"enabled"}', '{}', 'true', '{"type":"Enabled","prefix":true}']) {
      const extra = `,"caching":${stored},"expire_at":1999999999`
      assert.deepEqual(featuresOf(extra, dialect), ['caching'], stored)
    }
    for (const none of ['null', 'false', '{"type":"disabled"}']) {
      assert.deepEqual(featuresOf(`,"caching":${none}`, dialect), [], none)
    }
    assert.throws(() => featuresOf(',"Caching":{"type":"enabled"}', dialect), /'caching'/)
  }
  assert.deepEqual(featuresOf(',"search_parameters":{"mode":"off"}'), [])
  for (const spoken of ['"audio"', '["text","AUDIO"]']) {
    assert.deepEqual(featuresOf(`,"modalities":${spoken}`), ['modalities'])
  }
  const tools = ',"tools":[{"Type":"web_search","type":"function","function":{"name":"f"}}]'
  assert.deepEqual(featuresOf(tools), ['tools[0].type'])
  const painter = ',"tools":[{"type":"image_generation","Model":"dear"}]'
  assert.deepEqual(featuresOf(painter, 'responses'), ['tools[0].type'])
  assert.deepEqual(featuresOf(',"models":["a"]', 'responses'), ['models[0]'])
  assert.deepEqual(featuresOf(',"models":["a"]', 'messages'), ['models'])
})

test('delivered output counts at most one token per four bytes, and per event if that is less', () => {
  const cases = [
    { outputBytes: 80, outputEvents: 40, tokens: 20, name: 'tokens split over events' },
    { outputBytes: 200, outputEvents: 40, tokens: 40, name: 'an event per token' },
    { outputBytes: 800, outputEvents: 2, tokens: 200, name: 'events of many tokens' },
    { outputBytes: 10, outputEvents: undefined, tokens: 3, name: 'a whole answer' },
    { outputBytes: 0, outputEvents: 0, tokens: 0, name: 'nothing' },
  ]
  for (const { outputBytes, outputEvents, tokens, name } of cases) {
    const report = {
      outputBytes,
      finished: false,
      ...(outputEvents === undefined ? {} : { outputEvents }),
    }
    assert.deepEqual(estimateText(7, report), { input_token: 7, output_token: tokens }, name)
  }
})

test('of too many hosted tools no more are read than a request may have', () => {
  const options = { facts: {}, features: [], models: [], isHosted: false, calls: 0 }
  const kindOf = mock.fn(() => UNKNOWN_TOOL)
  const tools = Array.from({ length: 1_000 }, () => ({ type: 'web_search' }))
  readPricedTools(options, { tools }, kindOf)
  assert.equal(kindOf.mock.callCount(), 129)
})
