/**
 * Whatever nesting a vendor honours, a tool that it runs is priced, taken out or refused. The
 * vendor here reads a body in its own way: any definition below any list named `tools`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { chatCompletions } from '../../../server/api/endpoints/text/chat-completions.ts'
import { messagesEndpoint } from '../../../server/api/endpoints/text/messages.ts'
import { responses } from '../../../server/api/endpoints/text/responses.ts'
import { GatewayError } from '../../../server/base/lib/errors.ts'
import type { PriceEntry } from '../../../server/money/catalog/catalog.ts'
import { parseRequestJson } from '../../../server/wire/dialects/request-json/parse.ts'
import { quote } from '../../../server/work/pipeline/hold/quote.ts'
import type { Metering } from '../../../server/work/pipeline/metering.ts'
import type { ResolvedCall } from '../../../server/work/pipeline/request/resolve.ts'
import { model } from './priced-model.ts'

const METERINGS = {
  chat: chatCompletions.metering,
  responses: responses.metering,
  messages: messagesEndpoint.metering,
} as const
type Dialect = keyof typeof METERINGS

/** Definitions that some vendor runs itself for a fee, by the unit of the fee. */
const HOSTED: Readonly<Record<Dialect, readonly (readonly [object, string?])[]>> = {
  chat: [
    [{ type: 'web_search' }, 'web_search_call'],
    [{ type: 'openrouter:web_search' }, 'web_search_call'],
    [{ type: 'builtin_function', function: { name: '$web_search' } }, 'web_search_call'],
    [{ type: 'web_extractor' }, 'web_fetch_call'],
    [{ type: 'code_interpreter' }],
    [{ type: 'dream_reader' }],
  ],
  responses: [
    [{ type: 'web_search', external_web_access: false }, 'web_search_call'],
    [{ type: 'web_search_2025_08_26' }, 'web_search_call'],
    [{ type: 'x_search' }, 'web_search_call'],
    [{ type: 'file_search', vector_store_ids: [] }, 'file_search_call'],
    [{ type: 'code_execution' }, 'code_execution_call'],
    [{ type: 'builtin_function', name: '$web_search' }, 'web_search_call'],
    [{ type: 'shell', environment: { type: 'container_auto' } }, 'container_minute'],
    [{ type: 'dream_reader' }],
  ],
  messages: [
    [{ type: 'web_search_20250305', name: 'web_search' }, 'web_search_call'],
    [{ type: 'web_fetch_20260209', name: 'web_fetch' }, 'web_fetch_call'],
    [{ type: 'code_execution_20250825', name: 'code_execution' }, 'container_minute'],
    [{ type: 'dream_reader', name: 'dreams' }],
  ],
}

/** Definitions that the caller runs. */
const OWN: Readonly<Record<Dialect, readonly object[]>> = {
  chat: [{ type: 'function', function: { name: 'f', parameters: { tools: ['x'] } } }],
  responses: [
    { type: 'function', name: 'f', parameters: { type: 'object' } },
    { type: 'custom', name: 'c' },
    { type: 'local_shell' },
    { type: 'shell' },
    { type: 'function', name: 'web_search' },
  ],
  messages: [
    { name: 'own', input_schema: { type: 'object' } },
    { type: 'bash_20250124', name: 'bash' },
    { name: 'other', input_schema: { properties: { tools: { type: 'web_search' } } } },
  ],
}

interface Tree {
  readonly own: readonly number[]
  readonly hosted: readonly number[]
  readonly groups: readonly Tree[]
}

const treeOf = (groups: fc.Arbitrary<readonly Tree[]>): fc.Arbitrary<Tree> =>
  fc.record({
    own: fc.array(fc.nat(9), { maxLength: 2 }),
    hosted: fc.array(fc.nat(9), { maxLength: 2 }),
    groups,
  })
const someOf = (one: fc.Arbitrary<Tree>) => fc.array(one, { maxLength: 2 })
const tree = treeOf(someOf(treeOf(someOf(treeOf(fc.constant([]))))))

const pick = <T>(list: readonly T[], index: number): T => {
  const one = list[index % list.length]
  assert.ok(one !== undefined)
  return one
}

function plant(dialect: Dialect, { own, hosted, groups }: Tree): object[] {
  return [
    ...own.map((index) => pick(OWN[dialect], index)),
    ...groups.map((group) => ({ type: 'namespace', name: 'n', tools: plant(dialect, group) })),
    ...hosted.map((index) => pick(HOSTED[dialect], index)[0]),
  ]
}

const ITEMS = ['additional_tools', 'tool_search_output', 'message', 'some_item', '']

interface Plan {
  readonly dialect: Dialect
  readonly top: Tree
  readonly items: readonly (readonly [Tree, number, boolean])[]
  readonly choice: unknown
  readonly sold: readonly string[]
  readonly spaces: number
}

const plans: fc.Arbitrary<Plan> = fc.record({
  dialect: fc.constantFrom<Dialect[]>('chat', 'responses', 'messages'),
  top: tree,
  items: fc.array(fc.tuple(tree, fc.nat(9), fc.boolean()), { maxLength: 2 }),
  choice: fc.constantFrom<unknown[]>(
    undefined,
    'auto',
    'required',
    { type: 'any' },
    { type: 'auto' },
    { type: 'web_search' },
    { type: 'tool', name: 'web_search' },
    { type: 'function', name: 'f' },
    { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] },
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'web_search' }, { type: 'function' }] },
    },
  ),
  sold: fc.subarray(['web_search_call', 'file_search_call', 'container_minute']),
  spaces: fc.nat(2),
})

function write({ dialect, top, items, choice, spaces }: Plan): string {
  const tools = plant(dialect, top)
  const bringing = items.map(([own, type, isBlock]) => {
    const named = pick(ITEMS, type)
    const brought = { ...(named ? { type: named } : {}), tools: plant(dialect, own) }
    return isBlock ? { role: 'user', content: [brought] } : { role: 'developer', ...brought }
  })
  const conversation = [...bringing, { role: 'user', content: 'hi' }]
  const name = dialect === 'responses' ? 'input' : 'messages'
  const body = {
    model: 'm',
    max_tokens: 20,
    ...(tools.length > 0 ? { tools } : {}),
    [name]: conversation,
    ...(choice === undefined ? {} : { tool_choice: choice }),
  }
  return JSON.stringify(body, null, spaces)
}

/** Members with schemas or names that look like definitions. */
const OTHERS = new Set(['parameters', 'input_schema', 'function', 'tool_choice'])

/** Returns every definition that a vendor would take from a body, wherever it stands. */
function readAsVendor(value: unknown, isTool = false): object[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((one) => readAsVendor(one, isTool))
  const members = Object.entries(value).filter(([name]) => !OTHERS.has(name))
  const below = members.flatMap(([name, one]) => readAsVendor(one, name === 'tools'))
  return isTool ? [value, ...below] : below
}

const printed = (tools: readonly object[]) => tools.map((tool) => JSON.stringify(tool)).sort()

function quoteAt(plan: Plan, text: string): ResolvedCall | string {
  const body = Buffer.from(text)
  const parsed = parseRequestJson(body)
  assert.ok(parsed.ok)
  const { value, fields } = parsed
  const prices = [
    ...model.prices,
    ...plan.sold.map((unit) => ({ unit, per: 1, amountNanos: 7n }) as PriceEntry),
  ]
  const request = { body, value, fields, headers: {}, estimateInputTokens: () => 0 }
  const call = { request, model: { ...model, prices }, routes: [] } as unknown as ResolvedCall
  const target = { upstream: 'v', settings: {} }
  const route = { channel: 'c', target } as unknown as ResolvedCall['routes'][number]
  const metering: Metering = METERINGS[plan.dialect]
  try {
    const upstreams = new Map()
    return quote(metering, { ...call, routes: [route] }, { upstreams }).call
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return error.message
  }
}

test('a tool that the vendor runs is priced, taken out or refused; others stay', () => {
  let served = 0
  fc.assert(
    fc.property(plans, (plan) => {
      const text = write(plan)
      const quoted = quoteAt(plan, text)
      const { dialect, sold } = plan
      const unsold = HOSTED[dialect].filter(([, unit]) => !unit || !sold.includes(unit))
      const forbidden = new Set(unsold.map(([tool]) => JSON.stringify(tool)))
      const isForbidden = (tool: object) => forbidden.has(JSON.stringify(tool))
      const before = readAsVendor(JSON.parse(text))
      if (typeof quoted === 'string') {
        assert.match(quoted, /has no price/)
        assert.ok(plan.choice !== undefined && before.some(isForbidden), quoted)
        return
      }
      served += 1
      const sent = JSON.parse(quoted.request.body.toString())
      assert.deepEqual(sent, quoted.request.value)
      const after = readAsVendor(sent)
      const isLeaf = (tool: object) => !('type' in tool && tool.type === 'namespace')
      const kept = before.filter((tool) => isLeaf(tool) && !isForbidden(tool))
      assert.deepEqual(printed(after.filter(isLeaf)), printed(kept))
      if (before.some(isForbidden)) {
        assert.ok(quoted.takenOut && quoted.takenOut.length > 0)
        const isEmpty = (tool: object) => 'tools' in tool && String(tool.tools) === ''
        assert.ok(after.filter(isEmpty).length <= before.filter(isEmpty).length)
        if (kept.length === 0) assert.equal('tool_choice' in sent, false)
      } else assert.equal(quoted.request.body.toString(), text)
    }),
    { numRuns: 600 },
  )
  assert.ok(served > 60)
})
