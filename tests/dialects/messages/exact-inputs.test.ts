/** Long integers in the inputs of a conversation's calls, wherever they stand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeJson } from '../../../server/base/lib/json.ts'
import { withExactInputs } from '../../../server/wire/dialects/messages/exact-inputs.ts'
import { parseRequestJson } from '../../../server/wire/dialects/request-json/parse.ts'

const LONG = '9007199254740993'

function read(text: string) {
  const body = Buffer.from(text)
  const parsed = parseRequestJson(body)
  assert.ok(parsed.ok)
  const { value, fields } = parsed
  return { value, exact: withExactInputs({ body, fields, value }) }
}

const asked = (...messages: string[]) => `{"max_tokens":5,"messages":[${messages.join()}]}`
const says = (...blocks: string[]) => `{"role":"assistant","content":[${blocks.join()}]}`
const call = (input: string) => `{"type":"tool_use","id":"t","name":"look","input":${input}}`

test('an input comes out as it was sent, and so does all else', () => {
  const text = asked(
    '{"role":"user","content":"]}"}',
    says(call('{}'), '{"type":"text","text":"{[,"}', call(`{"id":[-${LONG},1,"é"]}`)),
    '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}',
    says(call(`{"__proto__":12345678901234567890123,"a":1.5}`), call('{"a":[[1]]}')),
  )
  const { value, exact } = read(text)
  assert.equal(writeJson(exact), text)
  assert.notEqual(writeJson(value), text)
})

test('white space around an input changes nothing', () => {
  const { exact } = read(
    asked(` { "role" : "assistant" , "content" : [ {"type":"text","text":"a"} ,
      { "input" : { "id" : ${LONG} } , "type" : "tool_use" } ] } `),
  )
  assert.match(writeJson(exact), new RegExp(`"input":{"id":${LONG}}`))
})

test('the inputs of all calls have up to 10,000 such integers together', () => {
  const ids = (count: number) => call(`{"ids":[${Array(count).fill(LONG).join()}]}`)
  const most = asked(says(ids(4_000), ids(3_000)), says(ids(3_000)))
  assert.equal(writeJson(read(most).exact), most)
  const { value, exact } = read(asked(says(ids(4_000), ids(3_000)), says(ids(3_001))))
  assert.equal(writeJson(exact), writeJson(value))
})

test('a conversation has up to 512 KiB, and no escaped name', () => {
  const start = `[${says(call(`{"id":${LONG}}`))},{"role":"user","content":"`
  const filled = (bytes: number) =>
    `{"messages":${start}${'x'.repeat(bytes - start.length - 3)}"}],"system":"${start.length}"}`
  const full = filled(512 * 1024)
  assert.equal(writeJson(read(full).exact), full)
  for (const text of [filled(512 * 1024 + 1), asked(says(call(`{"\\u0061":1,"id":${LONG}}`)))]) {
    const { value, exact } = read(text)
    assert.equal(exact, value)
  }
})

test('a request without such integers is the same object', () => {
  for (const text of [
    asked(says(call('{"id":9007199254740991,"b":0.1234567890123456789}'))),
    asked(`{"role":"user","content":"${LONG}"}`, `{"role":"user","n":${LONG}}`),
    `{"messages":"${LONG}","n":${LONG}}`,
    '{"messages":[null,[],{"content":[null,1]}]}',
  ]) {
    const { value, exact } = read(text)
    assert.equal(exact, value)
  }
})
