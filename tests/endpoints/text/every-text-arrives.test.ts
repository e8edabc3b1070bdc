/** Every text of a conversation reaches the vendor, in order, whatever the dialects of both. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { translatingCatalog } from '../../clients/translating-catalog.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const MODELS = ['sim-chat', 'sim-claude', 'sim-gemini-3', 'translated', 'claude-bedrock']
const SCHEMA = { type: 'object', properties: {} }
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
  await gateway.apply(translatingCatalog(gateway.simulators.url))
})
after(() => gateway.stop())

/** One text for each place of a conversation, in its order. */
const PLACES = [
  'leading system',
  'first question',
  'note behind it',
  'words beside the call',
  'result of the tool',
  'note behind the result',
  'second question',
  'answer to it',
  'note behind the answer',
  'last question',
] as const
const marks = PLACES.map((place, at) => `${at}: ${place}`)
const [lead, first, note, beside, result, note2, second, answer, note3, last] = marks

type Write = (text: string | undefined) => unknown

function asChat(write: Write, role: string) {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
  return {
    messages: [
      { role: 'system', content: write(lead) },
      { role: 'user', content: write(first) },
      { role, content: write(note) },
      { role: 'assistant', content: write(beside), tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: write(result) },
      { role, content: write(note2) },
      { role: 'user', content: write(second) },
      { role: 'assistant', content: write(answer) },
      { role, content: write(note3) },
      { role: 'user', content: write(last) },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: SCHEMA } }],
  }
}

function asMessages(write: Write) {
  const call = { type: 'tool_use', id: 'c1', name: 'look', input: {} }
  return {
    max_tokens: 100,
    system: write(lead),
    messages: [
      { role: 'user', content: write(first) },
      { role: 'system', content: write(note) },
      { role: 'assistant', content: [{ type: 'text', text: beside }, call] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', content: write(result) }],
      },
      { role: 'system', content: write(note2) },
      { role: 'user', content: write(second) },
      { role: 'assistant', content: write(answer) },
      { role: 'system', content: write(note3) },
      { role: 'user', content: write(last) },
    ],
    tools: [{ name: 'look', input_schema: SCHEMA }],
  }
}

function asInput(role: string) {
  const message = (role: string, text: string | undefined) => {
    const type = role === 'assistant' ? 'output_text' : 'input_text'
    return { type: 'message', role, content: [{ type, text }] }
  }
  return {
    instructions: lead,
    input: [
      message('user', first),
      message(role, note),
      message('assistant', beside),
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: result },
      message(role, note2),
      message('user', second),
      message('assistant', answer),
      message(role, note3),
      message('user', last),
    ],
    tools: [{ type: 'function', name: 'look', parameters: SCHEMA }],
  }
}

const plain: Write = (text) => text
const inParts: Write = (text) => [{ type: 'text', text }]
const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const RESPONSES = '/v1/responses'

for (const [name, path, body] of [
  ['chat', CHAT, asChat(plain, 'system')],
  ['chat in parts', CHAT, asChat(inParts, 'developer')],
  ['messages', MESSAGES, asMessages(plain)],
  ['messages in blocks', MESSAGES, asMessages(inParts)],
  ['responses', RESPONSES, asInput('developer')],
  ['responses with system messages', RESPONSES, asInput('system')],
] as const) {
  for (const model of MODELS) {
    test(`${name} at ${model}`, async () => {
      const { key } = await gateway.tenant()
      const version = { 'anthropic-version': '2023-06-01' }
      const reply = await gateway.post(path, key, { model, ...body }, version)
      assert.equal(reply.status, 200, reply.text)
      const sent = gateway.simulators.calls.list().at(-1)
      const text = Buffer.from(sent?.body_base64 ?? '', 'base64').toString()
      const found = marks.filter((mark) => text.includes(mark))
      assert.deepEqual(found, marks)
      // A system instruction may stand behind the turns.
      const turns = marks.slice(1).map((mark) => text.indexOf(mark))
      assert.deepEqual(
        turns,
        turns.toSorted((a, b) => a - b),
      )
    })
  }
}
