/**
 * Each vendor of the catalog against a simulator with that vendor's deviations: its shipped channel
 * and model, served, refused and charged as the vendor bills.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { PROFILE_KEYS } from '../../simulators/profiles/profile.ts'
import { PROFILES } from '../../simulators/profiles/profiles.ts'
import { dataLines } from '../simulators/support.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/in-process.ts'

const CATALOG = join(import.meta.dirname, '..', '..', 'catalog')
const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const RESPONSES = '/v1/responses'
const VERSION = { 'anthropic-version': '2023-06-01' }
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const PROMPT =
  '[[say:the river]] [[reason:let me think]] [[cached:8]] where does it go today, and why?'

/** Returns the vendor's shipped channel and its first text model. */
function readShipped(name: string) {
  const file = JSON.parse(readFileSync(join(CATALOG, `${name}.json`), 'utf8'))
  const model = file.models.find((one: { type: string }) => one.type === 'chat')
  const [route] = model.routes
  const channel = file.channels.find((one: { id: string }) => one.id === route.channel)
  return { model, channel, upstreamModel: route.upstream_model ?? model.id }
}

for (const profile of PROFILES) {
  describe(`the profile of ${profile.name}`, () => {
    let gateway: TestGateway
    let key: string
    const { model, channel, upstreamModel } = readShipped(profile.name)

    before(async () => {
      gateway = await startTestGateway()
      key = (await gateway.tenant({ balance: '1000' })).key
      const base = `${gateway.simulators.url}/profiles/${profile.name}${profile.path}`
      const withKey = (apiKey: string) => ({
        ...channel.settings,
        base_url: base,
        ...(profile.auth === 'none' ? { api_key: undefined } : { api_key: apiKey }),
      })
      const { upstream } = channel
      const keys = { ...PROFILE_KEYS, wrong: 'sim-unknown-key' }
      const channels = Object.entries(keys).map(([id, one]) => {
        return { id, upstream, settings: withKey(one) }
      })
      const sold = { ...model, prices: model.prices, details: model.details }
      const to = (...ids: string[]) =>
        ids.map((id, priority) => ({ channel: id, upstream_model: upstreamModel, priority }))
      const models = [
        { ...sold, id: 'm', routes: to('good') },
        ...['wrong', 'outOfMoney', 'rateLimited'].flatMap((id) => [
          { ...sold, id: `${id}-alone`, routes: to(id) },
          { ...sold, id: `${id}-then-good`, routes: to(id, 'good') },
        ]),
      ]
      await gateway.apply({ currency: 'CNY', channels, models }, 'profile')
    })
    after(() => gateway.stop())

    /** Checks that the record has the units of the vendor's book, and the charge its lines. */
    async function checkCharge(sent: TestAnswer): Promise<void> {
      const record = await gateway.record(sent, key)
      const [entry] = gateway.simulators.book.entries().slice(-1)
      assert.ok(entry?.billed, 'the vendor billed')
      const units: Record<string, number> = {}
      for (const { unit, quantity } of record.lines) units[unit] = (units[unit] ?? 0) + quantity
      const { input_token: plain = 0, cached_input_token: cached = 0, ...rest } = entry.units
      const statesCached = profile.name !== 'ollama' && cached > 0
      const booked = statesCached
        ? { input_token: plain, cached_input_token: cached, ...rest }
        : { input_token: plain + cached, ...rest }
      const { vendor_cost: _, ...charged } = units
      if (!units.vendor_cost) assert.deepEqual(charged, booked)
      assert.deepEqual([record.status, record.basis, record.review], ['succeeded', 'usage', false])
    }
    const ask = (more: object = {}, id = 'm') => {
      return { model: id, messages: [{ role: 'user', content: PROMPT }], ...more }
    }
    const stated = channel.settings.quirks?.max_tokens_field
    const limit = stated ?? 'max_tokens'

    test('a call is answered and charged as the vendor bills', async () => {
      const sent = await gateway.post(CHAT, key, ask({ [limit]: 200 }))
      assert.equal(sent.status, 200, sent.text)
      assert.match(JSON.stringify(sent.json.choices[0].message), /the river/)
      await checkCharge(sent)
    })

    if (stated) {
      test('the other name of the output limit is taken as well', async () => {
        const other = stated === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
        const sent = await gateway.post(CHAT, key, ask({ [other]: 200 }))
        assert.equal(sent.status, 200, sent.text)
      })
    }

    test('a stream too, wherever the vendor states its usage', async () => {
      const sent = await gateway.post(CHAT, key, ask({ stream: true, [limit]: 200 }))
      assert.equal(sent.status, 200, sent.text)
      assert.ok(sent.text.endsWith('data: [DONE]\n\n'))
      await checkCharge(sent)
    })

    test('messages and responses call a tool by what the vendor takes', async () => {
      const content = '[[reason:hm]] [[tool:weather {"city":"Rome"}]] What is the weather?'
      const tools = [{ name: 'weather', description: 'w', input_schema: SCHEMA }]
      const message = { max_tokens: 300, tools, metadata: { user_id: 'u-1' } }
      const sent = await gateway.post(
        MESSAGES,
        key,
        { model: 'm', messages: [{ role: 'user', content }], ...message },
        VERSION,
      )
      assert.equal(sent.status, 200, sent.text)
      const used = sent.json.content.find(({ type }: { type: string }) => type === 'tool_use')
      assert.deepEqual([used?.name, used?.input], ['weather', { city: 'Rome' }])
      await checkCharge(sent)
      const results = [
        { type: 'tool_result', tool_use_id: used.id, content: 'sunny' },
        { type: 'text', text: 'And tomorrow?' },
      ]
      const turns = [
        { role: 'user', content },
        { role: 'assistant', content: sent.json.content },
        { role: 'user', content: results },
      ]
      const next = { model: 'm', messages: turns, ...message, stream: true }
      const second = await gateway.post(MESSAGES, key, next, VERSION)
      assert.equal(second.status, 200, second.text)
      assert.match(second.text, /event: message_stop/)
      await checkCharge(second)
    })

    test('reasoning is switched and tools are chosen as the vendor can', async () => {
      const { tool_choice: choice, thinking_switch: way } = channel.settings.quirks ?? {}
      const tools = [{ name: 'weather', input_schema: SCHEMA }]
      const body = { ...ask(), max_tokens: 300, tools, thinking: { type: 'disabled' } }
      const sent = await gateway.post(MESSAGES, key, body, VERSION)
      assert.equal(sent.status, 200, sent.text)
      const received = JSON.parse(
        Buffer.from(
          gateway.simulators.calls.list(0).at(-1)?.body_base64 ?? '',
          'base64',
        ).toString(),
      )
      const { enable_thinking: flag, thinking } = received
      const switched = {
        true: [undefined, { type: 'disabled' }],
        enable_thinking: [false, undefined],
      }
      const expected = switched[String(way) as 'true'] ?? [undefined, undefined]
      assert.deepEqual([flag, thinking], expected)
      const forced = { ...body, tool_choice: { type: 'any' } }
      const answer = await gateway.post(MESSAGES, key, forced, VERSION)
      assert.equal(answer.status, choice === 'auto' ? 400 : 200, answer.text)
      if (choice === 'auto') assert.match(answer.text, /tool_choice/)
    })

    if (channel.settings.responses === 'translate') {
      test('responses are translated', async () => {
        const body = { model: 'm', input: PROMPT, max_output_tokens: 200 }
        const sent = await gateway.post(RESPONSES, key, body)
        assert.equal(sent.status, 200, sent.text)
        await checkCharge(sent)
        const input = '[[fault:status=400;error-message=Prompt exceeds max length]]'
        const { json, text } = await gateway.post(RESPONSES, key, { model: 'm', input })
        const { message, type, code } = json.error ?? {}
        assert.equal(message, 'Prompt exceeds max length', text)
        assert.deepEqual([type, code], ['invalid_request_error', 'context_length_exceeded'])
      })
    }

    test('reasoning is beside the text, whole and streamed', async () => {
      const thinking = { type: 'enabled', budget_tokens: 1024 }
      const body = { ...ask(), max_tokens: 2000, thinking }
      const whole = await gateway.post(MESSAGES, key, body, VERSION)
      const types = whole.json.content.map(({ type }: { type: string }) => type)
      assert.deepEqual(types, ['thinking', 'text'], whole.text)
      const streamed = await gateway.post(MESSAGES, key, { ...body, stream: true }, VERSION)
      const started = dataLines(streamed.text).flatMap(
        ({ content_block: block }) => block?.type ?? [],
      )
      assert.deepEqual(started, ['thinking', 'text'], streamed.text)
    })

    const states = [
      ['wrong', 502, 'channel_fault', profile.wrongKey],
      ['outOfMoney', 502, 'channel_fault', profile.outOfMoney],
      ['rateLimited', 429, 'busy', profile.rateLimited],
    ] as const
    for (const [state, status, outcome, refusal] of states) {
      if (profile.auth === 'none' || !refusal) continue
      test(`${state}: ${status} without the vendor's words, and another route serves`, async () => {
        const alone = await gateway.post(CHAT, key, ask({}, `${state}-alone`))
        assert.equal(alone.status, status, alone.text)
        assert.doesNotMatch(alone.text, /credit|balance|quota|key provided|余额/i)
        const wait = refusal.headers?.['retry-after']
        if (wait) assert.equal(alone.headers.get('retry-after'), wait)
        const record = await gateway.record(alone, key)
        assert.deepEqual([record.charged, record.attempts[0]?.outcome], ['0', outcome])
        const other = await gateway.post(CHAT, key, ask({}, `${state}-then-good`))
        assert.equal(other.status, 200, other.text)
        await checkCharge(other)
      })
    }

    // The limit of the output gets the name that the vendor takes.
    const refused = profile.refuses.filter(({ message }) => !/^max_\w*tokens /.test(message))
    for (const { code, message } of refused.slice(0, 1)) {
      test(`a field that the vendor refuses (${message}) is the caller's`, async () => {
        const field = message.split(' ')[0] ?? ''
        const sent = await gateway.post(CHAT, key, ask(REFUSED[field] ?? { [field]: 1 }))
        assert.equal(sent.status, 400, `${code}: ${sent.text}`)
        assert.match(sent.text, /supported|unknown variant|only supports/)
      })
    }
  })
}

/** Values of refused fields that pass the gateway's own checks. */
const REFUSED: Readonly<Record<string, object>> = {
  'messages:': {
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
      },
    ],
  },
  parallel_tool_calls: {
    parallel_tool_calls: true,
    tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }],
  },
  response_format: {
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } },
  },
  stop: { stop: ['x'] },
  logprobs: { logprobs: true },
}
