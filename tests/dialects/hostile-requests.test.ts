/** Whatever JSON a caller sends, a translation either gives a body or names the field at fault. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_CHAT_QUIRKS } from '../../server/wire/dialects/chat/quirks.ts'
import { translateToContents } from '../../server/wire/dialects/chat-over-contents/request.ts'
import { translateChatRequest } from '../../server/wire/dialects/chat-over-messages/request.ts'
import { InvalidRequest } from '../../server/wire/dialects/invalid-request.ts'
import { countMessagesTokens } from '../../server/wire/dialects/messages/count-tokens.ts'
import { editHistory } from '../../server/wire/dialects/messages/edit-history.ts'
import { DEFAULT_MESSAGES_QUIRKS } from '../../server/wire/dialects/messages/quirks.ts'
import { validateMessagesRequest } from '../../server/wire/dialects/messages/validate-request.ts'
import { translateMessageRequest } from '../../server/wire/dialects/messages-over-chat/request.ts'

const value = fc.jsonValue({ maxDepth: 2 })

/** An object with these members, nearly always sane; now and then absent or anything at all. */
function some(members: Record<string, fc.Arbitrary<unknown>>) {
  const loose = Object.entries(members).map(([name, sane]) => {
    const absent = fc.constant(undefined)
    const choices = [
      { weight: 120, arbitrary: sane },
      { weight: 2, arbitrary: absent },
      { weight: 1, arbitrary: value },
    ]
    return [name, fc.oneof(...choices)] as const
  })
  return fc.record(Object.fromEntries(loose))
}

const word = fc.constantFrom('', 'a', 'lookup', 'call_1', 'data:image/png;base64,aW1n', '\ud83d')
const source = some({
  type: fc.constantFrom('base64', 'url', 'text', 'content'),
  data: word,
  url: word,
  media_type: word,
})
const block = some({
  type: fc.constantFrom('text', 'image', 'document', 'tool_use', 'tool_result', 'thinking', 'x'),
  text: word,
  id: word,
  tool_use_id: word,
  name: word,
  input: value,
  content: fc.oneof(word, fc.array(some({ type: fc.constant('text'), text: word }))),
  thinking: word,
  signature: word,
  source,
})
const role = fc.constantFrom('user', 'assistant', 'system', 'developer', 'tool', 'function')
const message = some({ role, content: fc.oneof(word, fc.array(block, { maxLength: 4 })) })
const kind = fc.constantFrom(undefined, 'custom', 'custom', 'web_search_20250305')
const tool = some({ name: word, type: kind, description: word, input_schema: value })
const messagesRequest = some({
  system: fc.oneof(word, fc.array(block)),
  messages: fc.array(message, { maxLength: 6 }),
  max_tokens: fc.constant(5),
  tools: fc.array(tool, { maxLength: 3 }),
  tool_choice: some({ type: fc.constantFrom('auto', 'any', 'none'), name: word }),
  thinking: some({ type: word, budget_tokens: fc.nat() }),
  output_config: some({ effort: word, format: value }),
  metadata: some({ user_id: word }),
  stop_sequences: fc.array(word, { maxLength: 5 }),
})

const part = some({
  type: fc.constantFrom('text', 'image_url', 'file', 'input_audio', 'video_url', 'x'),
  text: word,
  image_url: some({ url: word }),
  file: some({ filename: word, file_data: word }),
})
const call = some({ id: word, function: some({ name: word, arguments: word }) })
const chatMessage = some({
  role,
  content: fc.oneof(word, fc.array(part, { maxLength: 3 })),
  tool_calls: fc.array(call, { maxLength: 3 }),
  tool_call_id: word,
  function_call: some({ name: word, arguments: word }),
  refusal: word,
  name: word,
})
const chatRequest = some({
  messages: fc.array(chatMessage, { maxLength: 6 }),
  tools: fc.array(some({ type: fc.constant('function'), function: tool }), { maxLength: 3 }),
  functions: fc.array(tool, { maxLength: 2 }),
  tool_choice: fc.constantFrom('auto', 'none', 'required', undefined, undefined),
  response_format: fc.constantFrom(undefined, { type: 'text' }, { type: 'json_object' }),
  stop: fc.oneof(word, fc.array(word)),
  reasoning_effort: fc.constantFrom('low', 'high', 'x'),
})

/** True when there is a body; any error but an `InvalidRequest` fails the test. */
function judge(translate: () => Buffer | undefined): boolean {
  try {
    const body = translate()
    if (body) JSON.parse(body.toString('utf8'))
    return true
  } catch (error) {
    assert.ok(error instanceof InvalidRequest, String(error))
    assert.ok(error.param.length > 0)
    return false
  }
}

function expectBoth(
  arbitrary: fc.Arbitrary<Record<string, unknown>>,
  translate: (request: Record<string, unknown>) => Buffer | undefined,
): void {
  let bodies = 0
  let refusals = 0
  fc.assert(
    fc.property(arbitrary, (request) => {
      const sent = JSON.parse(JSON.stringify(request))
      if (judge(() => translate(sent))) bodies += 1
      else refusals += 1
    }),
    { numRuns: 1_000 },
  )
  assert.ok(bodies > 30 && refusals > 30, `${bodies} bodies, ${refusals} refusals`)
}

for (const strict of [false, true]) {
  test(`messages for a chat upstream, ${strict ? 'strict' : 'usual'}`, () => {
    const quirks = {
      ...DEFAULT_CHAT_QUIRKS,
      strict_role_order: strict,
      file_parts: strict,
      thinking_switch: strict,
      reasoning_efforts: strict ? ['low'] : [],
    }
    expectBoth(messagesRequest, (request) => {
      return translateMessageRequest(request, { upstreamModel: 'm', stream: strict, quirks }).body
    })
  })
}

for (const reasoning of ['off', 'budget', 'adaptive'] as const) {
  test(`chat for a messages upstream, reasoning ${reasoning}`, () => {
    const quirks = { ...DEFAULT_MESSAGES_QUIRKS, reasoning, structured_output: reasoning !== 'off' }
    expectBoth(chatRequest, (request) => {
      return translateChatRequest(request, { upstreamModel: 'm', stream: true, quirks }).body
    })
  })
}

for (const number of [2.5, 3, 4]) {
  test(`chat for an upstream of contents, generation ${number}`, () => {
    const generation = { number, thinks: true, isPro: false }
    expectBoth(chatRequest, (request) => {
      return translateToContents(request, {
        generation,
        stream: true,
        sellsSearch: true,
        hasIds: true,
        replacesSignatures: false,
      }).body
    })
  })
}

test('messages for a native upstream', () => {
  expectBoth(messagesRequest, (request) => {
    validateMessagesRequest(request, { needsMaxTokens: false })
    const { set } = editHistory(request)
    if (set?.messages !== undefined) JSON.parse(set.messages)
    assert.ok(Number.isSafeInteger(countMessagesTokens(request)))
    return undefined
  })
})
