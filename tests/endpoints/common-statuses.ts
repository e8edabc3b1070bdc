/**
 * The refusals common to all metered endpoints. Each endpoint's test runs all of them with its own
 * request.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeBudget } from '../../server/money/ledger/budgets/budgets.ts'
import { listSpendLimits } from '../../server/money/ledger/budgets/spend-limits.ts'
import { giveBudget } from '../ledger/budgets/support.ts'
import type { TestAnswer, TestGateway } from '../support/in-process.ts'

type Body = Readonly<Record<string, unknown>>

export interface CommonCase {
  readonly path: string
  readonly body: Body
  /** The file, if the request is a form; `body` then has its fields. */
  readonly form?: {
    readonly file: Buffer
    readonly bytesMax: number
  }
  /** True if a form is taken beside JSON. */
  readonly takesForms?: true
  readonly model: string
  /** A field that makes another request; `user` by default. */
  readonly other?: Body
  readonly envelope: 'flat' | 'nested' | 'native'
  /** Headers that the endpoint needs on every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Returns the request with a directive that makes the simulated vendor fail. */
  readonly withWords: (words: string) => Body
  /** A failure by which this vendor certainly did no work; an internal error by default. */
  readonly failure?: string
  /** True if the vendor is called after the answer, so that its failures have no status here. */
  readonly answersFirst?: true
  /** Returns the same request with another model. */
  readonly withModel: (model: string) => { readonly path: string; readonly body: Body }
}

/** Returns the member of a 402 that tells what was missing. */
function billingOf({ json }: TestAnswer): Record<string, string> {
  return json.billing ?? json.error.billing
}

/** Returns the object with `code` and the facts of a budget, wherever the envelope has it. */
function factsOf({ json }: TestAnswer): Record<string, string> {
  return json.error.code ? json.error : json
}

function errorOf(answer: TestAnswer, envelope: CommonCase['envelope']) {
  if (envelope === 'flat') {
    assert.equal(typeof answer.json?.error, 'string', answer.text)
    return { type: answer.json.type, message: answer.json.error }
  }
  if (envelope === 'native') {
    const { code, message, type } = answer.json.error
    assert.ok(code && type, answer.text)
    assert.match(message, /[^.]\. Request id: req_\w+$/)
    return { type: answer.json.type, message: message.replace(/\. Request id: \w+$/, '') }
  }
  assert.equal(answer.json?.type, 'error', answer.text)
  return answer.json.error
}

interface Fixture extends CommonCase {
  readonly gateway: TestGateway
  readonly post: (path: string, key: string, body: unknown, headers?: object) => Promise<TestAnswer>
}

type Case = readonly [title: string, run: (fixture: Fixture) => Promise<void>]

/** 400 for data that is not what its encoding says, 415 for an encoding that is not read. */
async function refuseEncodings(post: Fixture['post'], path: string, key: string, type: object) {
  const mislabelled = await post(path, key, '{}', { ...type, 'content-encoding': 'gzip' })
  assert.equal(mislabelled.status, 400, mislabelled.text)
  const unknown = await post(path, key, '{}', { ...type, 'content-encoding': 'compress' })
  assert.equal(unknown.status, 415, unknown.text)
  assert.equal(unknown.headers.get('accept-encoding'), 'gzip, deflate, br, zstd')
}

/** Refusals of JSON requests. */
const JSON_CASES: readonly Case[] = [
  [
    '400 for what is not a JSON object, 415 for what is not read',
    async ({ gateway, post, path, envelope, takesForms }) => {
      const { key } = await gateway.tenant()
      for (const text of ['', '{', '[]', 'null', '"x"', '{"a":1,"a":2}', '['.repeat(100)]) {
        const answer = await post(path, key, text)
        assert.equal(answer.status, 400, text.slice(0, 20))
        assert.equal(errorOf(answer, envelope).type, 'invalid_request_error')
      }
      const form = { 'content-type': 'multipart/form-data; boundary=x' }
      assert.equal((await post(path, key, 'x', form)).status, takesForms ? 400 : 415)
      await refuseEncodings(post, path, key, {})
    },
  ],
  [
    '413 for a body over the limit',
    async ({ gateway, post, path }) => {
      const { key } = await gateway.tenant()
      const answer = await post(path, key, ' '.repeat(65 * 1024 * 1024))
      assert.equal(answer.status, 413)
    },
  ],
]

/** Refusals of form requests. */
const FORM_CASES: readonly Case[] = [
  [
    '400 for a form that is none, 415 for what is not read',
    async ({ gateway, post, path, envelope }) => {
      const { key } = await gateway.tenant()
      const form = { 'content-type': 'multipart/form-data; boundary=x' }
      for (const text of ['', 'x', '--x', '--x--', '--x\r\n\r\n--x--', '--x\r\ncontent-']) {
        const answer = await post(path, key, text, form)
        assert.equal(answer.status, 400, text)
        assert.equal(errorOf(answer, envelope).type, 'invalid_request_error')
      }
      const nameless = { 'content-type': 'multipart/form-data' }
      assert.equal((await post(path, key, 'x', nameless)).status, 415)
      assert.equal((await post(path, key, '{}')).status, 415)
      await refuseEncodings(post, path, key, form)
    },
  ],
  [
    '413 for a file over the limit',
    async ({ gateway, path, body, form, envelope }) => {
      const { key } = await gateway.tenant()
      const file = Buffer.alloc((form?.bytesMax ?? 0) + 1)
      // It begins like a real file, so that only its size is wrong.
      form?.file.copy(file, 0, 0, 44)
      const answer = await postForm(gateway, path, key, { body, file })
      assert.equal(answer.status, 413, answer.text)
      assert.match(errorOf(answer, envelope).message, /^file is larger than \d+ bytes$/)
    },
  ],
]

const CASES: readonly Case[] = [
  [
    '401 without a key, with junk, and with two different keys',
    async ({ gateway, post, path, body, envelope }) => {
      const { key } = await gateway.tenant()
      for (const headers of [
        {},
        { authorization: 'Bearer nonsense' },
        { authorization: `Bearer ${key.slice(0, -1)}` },
        { authorization: `Bearer ${key}`, 'x-api-key': 'tr-other' },
      ]) {
        const answer = await post(path, '', body, { authorization: '', ...headers })
        assert.equal(answer.status, 401)
        assert.equal(errorOf(answer, envelope).type, 'auth_error')
        assert.equal(answer.headers.get('x-should-retry'), 'false')
        assert.match(answer.headers.get('x-request-id') ?? '', /^req_/)
      }
    },
  ],
  [
    '402 when the balance does not cover the hold, and nothing is recorded',
    async ({ gateway, post, path, body, envelope }) => {
      const { key, accountId } = await gateway.tenant({ balance: '0.000000001' })
      const answer = await post(path, key, body)
      assert.equal(answer.status, 402)
      const error = errorOf(answer, envelope)
      assert.equal(error.type, 'billing_error')
      assert.match(error.message, /^insufficient balance -- please top up/)
      const { required = '0', ...balance } = billingOf(answer)
      assert.deepEqual(balance, { available: '0.000000001', debt: '0', currency: 'CNY' })
      assert.ok(Number(required) > 0.000000001, required)
      assert.equal(answer.headers.get('x-should-retry'), 'false')
      assert.equal((await gateway.balance(accountId)).available, 1n)
      assert.deepEqual((await gateway.get('/v1/usage', key)).json.data, [])
    },
  ],
  [
    '402 when the spend limit of the key is reached',
    async ({ gateway, post, path, body, envelope }) => {
      const { key, accountId } = await gateway.tenant({ key: { spendLimitNanos: 1n } })
      const answer = await post(path, key, body)
      assert.equal(answer.status, 402)
      assert.match(errorOf(answer, envelope).message, /spend limit/)
      const { code, budget_id: id, resets_at: at } = factsOf(answer)
      const [limit] = await listSpendLimits(gateway.sql, accountId)
      assert.deepEqual([code, id, at], ['budget_exceeded', limit?.id, null])
      assert.equal(answer.headers.get('retry-after'), null)
    },
  ],
  [
    '402 when a budget is exceeded, with its id and the time when it resets',
    async ({ gateway, post, path, body, envelope }) => {
      const { key, accountId } = await gateway.tenant()
      const budget = await giveBudget(gateway.sql, accountId, 0n, { unit: 'call' })
      const answer = await post(path, key, body)
      assert.equal(answer.status, 402)
      const { type, message } = errorOf(answer, envelope)
      assert.equal(type, 'billing_error')
      assert.match(message, new RegExp(`budget ${budget.id}, which resets at 20`))
      const { code, budget_id: id, resets_at: at } = factsOf(answer)
      assert.deepEqual([code, id], ['budget_exceeded', budget.id])
      assert.equal(new Date(at ?? 0).getTime(), budget.resets_at?.getTime())
      assert.equal(answer.headers.get('retry-after'), null)
      assert.equal(answer.headers.get('x-should-retry'), 'false')
      await removeBudget(gateway.sql, budget.id, 'operator')
    },
  ],
  [
    '403 for a model that the key may not call',
    async ({ gateway, post, path, body, envelope }) => {
      const { key } = await gateway.tenant({ key: { models: ['another'] } })
      const answer = await post(path, key, body)
      assert.equal(answer.status, 403)
      assert.equal(errorOf(answer, envelope).type, 'permission_error')
    },
  ],
  [
    '404 for a model that does not exist, 400 for one of another kind',
    async ({ gateway, post, envelope, withModel, model }) => {
      const { key } = await gateway.tenant()
      const missing = withModel('no-such-model')
      const answer = await post(missing.path, key, missing.body)
      assert.equal(answer.status, 404)
      assert.match(errorOf(answer, envelope).message, /no-such-model/)
      const other = withModel(model === 'sim-chat' ? 'sim-embedding' : 'sim-chat')
      assert.equal((await post(other.path, key, other.body)).status, 400)
    },
  ],
  [
    '409 and 422 by Idempotency-Key, and the first answer again',
    async ({ gateway, post, path, body, other: more = { user: { uid: 'other' } } }) => {
      const { key, accountId } = await gateway.tenant()
      const header = { 'idempotency-key': 'once' }
      const first = await post(path, key, body, header)
      assert.equal(first.status, 200)
      // The balance may change, since a task may end at any moment.
      const holds = () => gateway.sql`select id from hold where account_id = ${accountId}`
      const { length } = await holds()
      const second = await post(path, key, body, header)
      if (first.headers.get('content-length') === null) {
        assert.equal(second.status, 409, 'a stream is not replayed')
      } else {
        assert.equal(second.text, first.text)
        assert.equal(second.headers.get('idempotent-replayed'), first.headers.get('x-request-id'))
      }
      const other = await post(path, key, { ...body, ...more }, header)
      assert.equal(other.status, 422)
      assert.equal((await holds()).length, length, 'held once')
    },
  ],
  [
    '429 with Retry-After over the rate of a key',
    async ({ gateway, post, path, body, envelope }) => {
      const { key } = await gateway.tenant({ key: { limits: { requests_per_minute: 1 } } })
      assert.equal((await post(path, key, body)).status, 200)
      const answer = await post(path, key, body)
      assert.equal(answer.status, 429)
      assert.equal(errorOf(answer, envelope).type, 'rate_limit_error')
      assert.equal(errorOf(answer, envelope).message, 'rate limit exceeded')
      assert.ok(Number(answer.headers.get('retry-after')) > 0)
    },
  ],
  [
    '502 when the vendor fails, and the hold goes back',
    async ({ gateway, post, path, envelope, withWords, failure = 'status=500' }) => {
      const { key, accountId } = await gateway.tenant()
      const before = await gateway.balance(accountId)
      const answer = await post(path, key, withWords(`[[fault:${failure}]]`))
      assert.equal(answer.status, 502, answer.text)
      const error = errorOf(answer, envelope)
      assert.equal(error.type, 'server_error')
      assert.equal(error.message, 'upstream provider error')
      const record = await gateway.record(answer, key)
      assert.equal(record.status, 'failed')
      assert.equal(record.charged, '0')
      assert.deepEqual(await gateway.balance(accountId), before)
    },
  ],
]

async function postForm(
  gateway: TestGateway,
  path: string,
  key: string,
  { body, file, headers = {} }: { body: Body; file: Buffer; headers?: object },
): Promise<TestAnswer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) {
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  form.set('file', new Blob([new Uint8Array(file)]), 'speech.wav')
  const authorization = `Bearer ${key}`
  const init = { method: 'POST', headers: { authorization, ...headers }, body: form }
  const answer = await gateway.fetch(path, init)
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json')
  const json = isJson ? JSON.parse(text) : undefined
  return { status: answer.status, headers: answer.headers, text, json }
}

export function testCommonStatuses(start: () => TestGateway, common: CommonCase): void {
  const name = common.path.split('?')[0]
  const { form, answersFirst } = common
  const ofKind = [...CASES, ...(form ? FORM_CASES : JSON_CASES)]
  const cases = answersFirst ? ofKind.filter(([title]) => !title.startsWith('502')) : ofKind
  for (const [title, run] of cases) {
    test(`${name}: ${common.model}: ${title}`, () => {
      const gateway = start()
      const post: Fixture['post'] = (path, key, body, more = {}) => {
        const headers = { ...common.headers, ...more }
        return form && typeof body === 'object'
          ? postForm(gateway, path, key, { body: { ...body }, file: form.file, headers })
          : gateway.post(path, key, body, headers)
      }
      return run({ ...common, gateway, post })
    })
  }
}
