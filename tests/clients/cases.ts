/**
 * What each client must receive, and what its account must pay: the same cases for every package,
 * model and form of answer. Charges are compared with the simulator's book, call by call.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { priceOf } from '../../testbed/prices.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'
import { until } from '../support/until.ts'
import type { Client, Question } from './client.ts'
import { translatingCatalog } from './translating-catalog.ts'

const BALANCE_NANOS = 100_000_000_000n
/** `translated` is the chat model behind a channel that translates responses. */
const PRICED_AS: Readonly<Record<string, string>> = { translated: 'sim-chat' }

interface Stage extends Tenant {
  readonly gateway: TestGateway
  readonly marker: string
  readonly place: { readonly url: string; readonly key: string }
  readonly question: Question
}

type Run = (client: Client, stage: Stage) => Promise<void>

const CASES: readonly (readonly [title: string, run: Run])[] = [
  [
    'text',
    async (client, { place, question, ...stage }) => {
      const words = `[[say:good day, 世界]] [[call:${stage.marker}]]`
      assert.equal(await client.ask(place, { ...question, words }), 'good day, 世界')
      await checkCharge({ place, question, ...stage }, 1)
    },
  ],
  [
    'a picture',
    async (client, { place, question, ...stage }) => {
      const words = `[[say:seen]] [[call:${stage.marker}]]`
      assert.equal(await client.ask(place, { ...question, words, withImage: true }), 'seen')
      const [received] = stage.gateway.simulators.calls.list().slice(-1)
      const body = Buffer.from(received?.body_base64 ?? '', 'base64').toString()
      assert.match(body, /iVBORw0KGgo/, 'the picture reached the vendor')
      await checkCharge({ place, question, ...stage }, 1)
    },
  ],
  [
    'a tool, there and back',
    async (client, { place, question, ...stage }) => {
      const words = `[[tool:weather {"city":"Zürich"}]] [[call:${stage.marker}]]`
      const text = await client.useTool(place, { ...question, words })
      assert.match(text, /sunny in Zürich/)
      await checkCharge({ place, question, ...stage }, 2)
    },
  ],
  [
    '401, free of charge',
    async (client, { place, question }) => {
      const wrong = { ...place, key: `${place.key.slice(0, -1)}_` }
      await assert.rejects(client.ask(wrong, question), (error) => statusOf(error) === 401)
    },
  ],
  [
    '402 says that the balance is used up',
    async (client, { place, question, gateway }) => {
      const { key } = await gateway.tenant({ balance: '0' })
      await assert.rejects(client.ask({ ...place, key }, question), (error) => {
        assert.match(String(error), /insufficient balance/)
        return statusOf(error) === 402
      })
    },
  ],
  [
    '429 with Retry-After',
    async (client, { place, question, gateway }) => {
      const { key } = await gateway.tenant({ key: { limits: { requests_per_minute: 1 } } })
      const limited = { ...place, key }
      await client.ask(limited, question)
      await assert.rejects(client.ask(limited, question), (error) => {
        assert.ok(Number(retryAfterOf(error)) > 0, 'Retry-After can be read')
        return statusOf(error) === 429
      })
    },
  ],
]

async function dieInMidStream(client: Client, stage: Stage): Promise<void> {
  const words = `[[tokens:200]] [[fault:reset-mid=8]] [[call:${stage.marker}]]`
  const answer = client.ask(stage.place, { ...stage.question, words })
  if (client.hidesBrokenStreams) await answer
  else await assert.rejects(answer)
  const spent = await readSpent(stage)
  const booked = readBook(stage)
  assert.ok(spent > 0n, 'what was delivered is paid for')
  assert.ok(spent <= booked, `charged ${spent}, billed ${booked}`)
}

function readBook({ gateway, marker, question }: Stage): bigint {
  const model = PRICED_AS[question.model] ?? question.model
  return gateway.simulators.book
    .entries({ marker })
    .filter((entry) => entry.billed)
    .reduce((sum, entry) => sum + priceOf(model, entry.units), 0n)
}

/** What the account paid, once nothing is held any more. */
async function readSpent({ gateway, accountId }: Stage): Promise<bigint> {
  const { available, debt } = await until('the hold to be settled', async () => {
    const balance = await gateway.balance(accountId)
    return balance.held === 0n ? balance : undefined
  })
  return BALANCE_NANOS - available + debt
}

async function checkCharge(stage: Stage, calls: number): Promise<void> {
  const { gateway, marker } = stage
  const billed = gateway.simulators.book.entries({ marker }).filter((entry) => entry.billed)
  assert.equal(billed.length, calls, 'calls that the vendor billed')
  assert.equal(await readSpent(stage), readBook(stage), 'charged what the vendor billed')
}

function statusOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined
  if ('status' in error) return error.status
  return 'statusCode' in error ? error.statusCode : undefined
}

function retryAfterOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined
  const headers =
    'headers' in error ? error.headers : 'responseHeaders' in error ? error.responseHeaders : {}
  if (headers instanceof Headers) return headers.get('retry-after')
  return Object.entries(headers ?? {}).find(([name]) => name === 'retry-after')?.[1]
}

/** Registers all cases for these clients, with one gateway for all of them. */
export function testClients(clients: readonly Client[]): void {
  let gateway: TestGateway
  before(async () => {
    gateway = await startTestGateway()
    await gateway.apply(translatingCatalog(gateway.simulators.url))
  })
  after(() => gateway.stop())

  async function enter(model: string, stream: boolean): Promise<Stage> {
    const tenant = await gateway.tenant({ balance: '100' })
    const place = { url: gateway.url, key: tenant.key }
    const question = { model, stream, words: 'good day' }
    return { ...tenant, gateway, place, question, marker: randomUUID() }
  }

  for (const client of clients) {
    for (const model of client.models) {
      for (const stream of [false, true]) {
        describe(`${client.name}, ${model}, ${stream ? 'streaming' : 'whole'}`, () => {
          for (const [title, run] of CASES) {
            test(title, async () => run(client, await enter(model, stream)))
          }
          if (!stream) return
          test('a stream that dies', async () => dieInMidStream(client, await enter(model, true)))
        })
      }
    }
  }
}
