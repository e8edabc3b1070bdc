/** A vendor gets more bytes of a translated request than the caller sent, and bills them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { messagesEndpoint } from '../../../server/api/endpoints/text/messages.ts'
import { DEFAULT_CHAT_QUIRKS } from '../../../server/wire/dialects/chat/quirks.ts'
import { translateMessageRequest } from '../../../server/wire/dialects/messages-over-chat/request.ts'
import { parseRequestJson } from '../../../server/wire/dialects/request-json/parse.ts'
import { model } from './priced-model.ts'

/** Texts with many characters that are escaped again when their object becomes a string. */
const hostile = fc
  .array(fc.constantFrom('"', '\\', '{', 'a', '\n'), { maxLength: 40 })
  .map((some) => some.join('').repeat(500))
const turns = fc.array(fc.record({ argument: hostile, name: fc.constantFrom('a', 'look_up') }), {
  minLength: 1,
  maxLength: 3,
})
const tools = fc.integer({ min: 0, max: 400 })

test('the ceiling covers each byte of a request of messages at a chat vendor', () => {
  fc.assert(
    fc.property(turns, tools, (some, count) => {
      const messages = some.flatMap(({ argument, name }, index) => [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [
            // A name has at most 8 KB.
            {
              type: 'tool_use',
              id: `t${index}`,
              name,
              input: { [argument.slice(0, 4_000)]: argument },
            },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: 'x' }],
        },
      ])
      const declared = Array.from({ length: count }, (_, index) => {
        return { name: `n${index}`, input_schema: { type: 'object' } }
      })
      const body = Buffer.from(
        JSON.stringify({ model: 'm', max_tokens: 9, messages, tools: declared }),
      )
      const parsed = parseRequestJson(body)
      assert.ok(parsed.ok)
      const { value, fields } = parsed
      const { ceiling } = messagesEndpoint.metering.quote({
        body,
        value,
        fields,
        headers: {},
        model,
      })
      const sent = translateMessageRequest(value, {
        upstreamModel: 'm',
        stream: false,
        quirks: DEFAULT_CHAT_QUIRKS,
      })
      assert.ok(ceiling.inputTokens >= sent.body.length, `${sent.body.length} bytes are sent`)
    }),
    { numRuns: 200 },
  )
})
