/** Tools of free text at a model that knows functions only, and back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listCustomTools } from '../../../server/wire/dialects/chat-over-messages/translate-tools.ts'
import {
  createChatBody,
  createChatStream,
} from '../../../server/wire/dialects/chat-over-messages/writer.ts'
import { createMessagesUnfolder } from '../../../server/wire/dialects/messages/unfold-body.ts'
import { chunkings, run } from '../replay.ts'
import { refusedField, translate } from './translate.ts'

const grammar = { syntax: 'lark', definition: 'start: "x"' }
const PATCH = {
  type: 'custom',
  custom: { name: 'patch', description: 'Patches.', format: { type: 'grammar', grammar } },
}
const TOOLS = [PATCH, { type: 'function', function: { name: 'lookup' } }]
const OPTIONS = {
  id: 'chatcmpl-1',
  model: 'm',
  created: 1,
  includeUsage: false,
  inputTokensEstimate: 1,
  customTools: listCustomTools({ tools: TOOLS }),
}
const MESSAGE = {
  type: 'message',
  role: 'assistant',
  content: [
    { type: 'tool_use', id: 'a', name: 'patch', input: { input: '*** "x"\n' } },
    { type: 'tool_use', id: 'b', name: 'lookup', input: { q: 1 } },
  ],
  stop_reason: 'tool_use',
}
const BODY = Buffer.from(JSON.stringify(MESSAGE))
const CUSTOM = { id: 'a', type: 'custom', custom: { name: 'patch', input: '*** "x"\n' } }

test('the model gets a function with one parameter, described with its grammar', () => {
  const { tools, tool_choice } = translate({
    tools: TOOLS,
    tool_choice: { type: 'custom', custom: { name: 'patch' } },
  })
  assert.equal(tools[0].name, 'patch')
  assert.deepEqual(tools[0].input_schema.required, ['input'])
  assert.match(tools[0].description, /^Patches\.\n.*`input`\.\n.*lark grammar:\nstart: "x"$/s)
  assert.deepEqual(tool_choice, { type: 'tool', name: 'patch' })
  assert.equal(refusedField({ tools: [{ type: 'custom' }] }), 'tools[0].custom.name')
})

test('only such tools are allowed if the choice names them', () => {
  const allowed_tools = { mode: 'auto', tools: [{ type: 'custom', custom: { name: 'patch' } }] }
  const body = translate({ tools: TOOLS, tool_choice: { type: 'allowed_tools', allowed_tools } })
  assert.deepEqual(
    body.tools.map(({ name }: { name: string }) => name),
    ['patch'],
  )
})

test('a call has its own form in a body', () => {
  const { message } = JSON.parse(run(createChatBody(OPTIONS), [BODY])).choices[0]
  const lookup = { name: 'lookup', arguments: '{"q":1}' }
  assert.deepEqual(message.tool_calls, [CUSTOM, { id: 'b', type: 'function', function: lookup }])
})

test('a call has its own form in a stream, its input in one piece', () => {
  const stream = Buffer.from(run(createMessagesUnfolder(), [BODY]))
  for (const { name, chunks } of chunkings(stream)) {
    const out = run(createChatStream(OPTIONS), chunks)
    const lines = out.split('\n\n').filter((line) => line.includes('tool_calls"'))
    const calls = lines.flatMap(
      (line) => JSON.parse(line.slice(6)).choices[0].delta.tool_calls ?? [],
    )
    const [start, input, ...others] = calls
    assert.deepEqual(start, { ...CUSTOM, index: 0, custom: { name: 'patch', input: '' } }, name)
    assert.deepEqual(input, { index: 0, custom: { input: '*** "x"\n' } }, name)
    assert.ok(
      others.every(({ index }) => index === 1),
      name,
    )
  }
})

test('a refusal keeps the vendor’s explanation', () => {
  const stop_details = { type: 'refusal', explanation: 'Not this.' }
  const refused = { ...MESSAGE, content: [], stop_reason: 'refusal', stop_details }
  const [choice] = JSON.parse(
    run(createChatBody(OPTIONS), [Buffer.from(JSON.stringify(refused))]),
  ).choices
  assert.deepEqual([choice.message.refusal, choice.finish_reason], ['Not this.', 'content_filter'])
  const ending = { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details } }
  const events = [{ type: 'message_start', message: {} }, ending, { type: 'message_stop' }]
  const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const out = run(createChatStream(OPTIONS), [Buffer.from(stream)])
  assert.match(out, /"delta":\{"refusal":"Not this\."\}.*"finish_reason":"content_filter"/s)
})

test('a call without an id gets one, and arguments that are a text stay it', () => {
  const content = [{ type: 'tool_use', name: 'lookup', input: '{"q":1}' }]
  const body = Buffer.from(JSON.stringify({ ...MESSAGE, content }))
  const [call] = JSON.parse(run(createChatBody(OPTIONS), [body])).choices[0].message.tool_calls
  assert.deepEqual([call.id, call.function.arguments], ['call_1_0', '{"q":1}'])
  const start = { type: 'content_block_start', index: 0, content_block: content[0] }
  const stop = { type: 'content_block_stop', index: 0 }
  const stream = [start, stop].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const out = run(createChatStream(OPTIONS), [Buffer.from(stream)])
  assert.match(out, /"id":"call_1_0".*\{\\"q\\":1\}/s)
})
