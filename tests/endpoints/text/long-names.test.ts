/**
 * The engine hashes a text of more than 16,383 characters by its length alone, and compares each
 * with all others of that length that were looked up in a set or a map.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import { takeOutTools } from '../../../server/api/endpoints/text/billing/take-out-tools.ts'
import { readToolChoice } from '../../../server/api/endpoints/text/billing/tool-choice.ts'
import { toolFamily } from '../../../server/api/endpoints/text/billing/tool-family.ts'
import { createStoredAnswers } from '../../../server/money/usage/stored-answers.ts'
import { DEFAULT_CHAT_QUIRKS } from '../../../server/wire/dialects/chat/quirks.ts'
import { parseRequestJson } from '../../../server/wire/dialects/request-json/parse.ts'
import { createToolMap } from '../../../server/wire/dialects/responses-over-chat/tool-map.ts'
import { translateInput } from '../../../server/wire/dialects/responses-over-chat/translate-input.ts'
import { translateResponseTools } from '../../../server/wire/dialects/responses-over-chat/translate-tools.ts'
import type { UsableRoute } from '../../../server/work/pipeline/request/find-routes.ts'
import { pinTargets } from '../../../server/work/pipeline/request/pin-stored.ts'
import type { Services } from '../../../server/work/pipeline/services.ts'

const COUNT = 1_500
/** A comparison of all with all takes two seconds and more. */
const MS_MAX = 900

const SEARCH = { type: 'web_search_20250305', name: 'web_search' }

const START = 'v'.repeat(16_500)

/** Returns values with a long text each; they differ in the last characters. */
const many = (make: (text: string) => unknown) =>
  Array.from({ length: COUNT }, (_, at) => make(`${START}${1_000 + at}`))

/** Returns a function that takes the search out of a request. */
function takeOut(more: object) {
  const body = Buffer.from(JSON.stringify({ tools: [SEARCH], ...more }))
  const parsed = parseRequestJson(body)
  assert.ok(parsed.ok)
  const { value, fields } = parsed
  const [tool] = value.tools as (typeof SEARCH)[]
  const offer = { path: ['tools', 0], name: 'web_search', kind: 'web_search', tool } as const
  return () => takeOutTools({ body, value, fields }, [{ ...offer, unit: 'web_search_call' }])
}

const chosen = many((name) => ({ type: 'x', name }))
const used = many((name) => ({ type: 'server_tool_use', name, id: 'x', input: {} }))
const allowed = many((name) => ({ type: 'function', name }))
const outputs = many((status) => {
  return { type: 'function_call_output', call_id: 'c', output: 'x', status }
})
const identified = many((id) => ({ position: 0, id, isEmpty: false }))
const SERVICES = {
  upstreams: new Map(),
  whileAway: (_waiting: unknown, find: () => unknown) => find(),
  storedAnswers: createStoredAnswers({} as Sql),
} as unknown as Services
const CASES: Readonly<Record<string, () => unknown>> = {
  'ids of items': () => {
    const named = { answerId: undefined, operation: undefined, references: [], identified }
    const routes = [{ channel: 'c', target: { upstream: 'u' } } as UsableRoute]
    return pinTargets([{ routes }], named as never, { accountId: 'a' }, SERVICES)
  },
  'names in a choice': () => readToolChoice({ type: 'allowed_tools', tools: chosen }),
  'names of used tools': takeOut({ messages: [{ role: 'assistant', content: used }] }),
  'states of outputs': () => {
    return translateInput({ input: outputs }, DEFAULT_CHAT_QUIRKS, createToolMap())
  },
  'names in a translated choice': () => {
    const tools = [{ type: 'function', name: 'f' }]
    const choice = { type: 'allowed_tools', mode: 'auto', tools: allowed }
    const request = { input: 'x', tools, tool_choice: choice }
    return translateResponseTools(request, DEFAULT_CHAT_QUIRKS, createToolMap())
  },
}

for (const [name, read] of Object.entries(CASES)) {
  test(`long ${name} are not compared with one another`, async () => {
    const before = process.cpuUsage()
    await read()
    const { user, system } = process.cpuUsage(before)
    assert.ok((user + system) / 1_000 < MS_MAX, `${(user + system) / 1_000} ms`)
  })
}

test('a long name that begins as an option of a search is none', () => {
  assert.equal(toolFamily('enable_search'), 'web_search')
  assert.equal(toolFamily('enable_search_x'), 'enable_search_x')
})
