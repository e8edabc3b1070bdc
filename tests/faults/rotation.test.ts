/**
 * A key is rotated while two gateways on one database have calls of it in flight: the old key and
 * the new one together never pass the spend limit.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rotateKey, showKey } from '../../server/money/accounts/manage-keys.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { type GatewayProcess, type Stage, startGateway, startStage } from '../support/gateway.ts'

const LIMIT = 1_000_000_000n
const PRICE = 30_000_000n
const STREAMS = 20
const EARLY = 10
const LATE = 120

let stage: Stage
let second: GatewayProcess
before(async () => {
  // On a busy machine a hold may take longer than the two seconds after which a call is refused.
  stage = await startStage()
  second = await startGateway(stage.place)
})
after(async () => {
  await second.stop(5_000)
  await stage.stop()
})

/** Alternates between the gateways. */
function post(index: number, key: string, path: string, body: object): Promise<Response> {
  return fetch((index % 2 === 0 ? stage.url : second.url) + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function search(index: number, key: string): Promise<number> {
  const answer = await post(index, key, '/v1/search', { Type: 'web', Query: 'rivers' })
  await answer.arrayBuffer()
  return answer.status
}

async function openStream(index: number, key: string): Promise<Response> {
  const content = '[[chunks:40]] [[chunk-delay:100]] [[tokens:400]]'
  const messages = [{ role: 'user', content }]
  const answer = await post(index, key, '/v1/chat/completions', {
    model: 'sim-chat',
    stream: true,
    messages,
  })
  assert.equal(answer.status, 200)
  return answer
}

const countGood = (statuses: readonly number[]) => statuses.filter((one) => one === 200).length

/** What the keys have been charged and what they hold, by the records and not by their counter. */
async function readUse(keys: readonly { readonly id: string }[]): Promise<Use> {
  const ids = keys.map(({ id }) => id)
  const [row] = await stage.sql<Use[]>`
    select
      (select coalesce(sum(charged), 0)::bigint from call
        where key_id = any (${ids})) as spent,
      (select coalesce(sum(amount), 0)::bigint from hold
        where key_id = any (${ids}) and state = 'open') as held`
  return row ?? { spent: 0n, held: 0n }
}

interface Use {
  readonly spent: bigint
  readonly held: bigint
}

test('calls in flight on two gateways, and a rotation: the limit holds for both keys', async () => {
  const { key: old } = await stage.createCaller('1000', { spendLimitNanos: LIMIT })
  const opening = Array.from({ length: STREAMS }, (_, index) => openStream(index, old.key))
  const streams = await Promise.all(opening)
  assert.ok((await readUse([old])).held > 0n, 'the streams are in flight')

  const early = Array.from({ length: EARLY }, (_, index) => search(index, old.key))
  const { created } = await rotateKey(stage.sql, old.id, 3600)
  const first = await Promise.all([search(0, created.key), search(1, created.key)])
  assert.deepEqual(first, [200, 200], 'both gateways know the new key')
  // Pairs of calls, so that each key is used at each gateway.
  const late = Array.from({ length: LATE }, (_, index) =>
    search(index, index % 4 < 2 ? old.key : created.key),
  )
  let isOver = false
  const keys = [old, created]
  const watch = async () => {
    for (let most = 0n; ; ) {
      const { spent, held } = await readUse(keys)
      if (spent + held > most) most = spent + held
      if (isOver) return most
    }
  }
  const finish = async () => {
    const statuses = await Promise.all([...early, ...late])
    for (const stream of streams) assert.match(await stream.text(), /\[DONE\]/)
    return statuses
  }
  const end = () => {
    isOver = true
  }
  const [most, statuses] = await Promise.all([watch(), finish().finally(end)])
  assert.ok(most <= LIMIT, `${most} spent and held of ${LIMIT}`)

  assert.deepEqual([...new Set(statuses)].sort(), [200, 402])
  const { spent } = await readUse(keys)
  for (const { id } of keys) {
    const counted = await showKey(stage.sql, id)
    assert.deepEqual([counted.spent, counted.held], [spent, 0n], 'it is the sum of the charges')
  }

  // What the streams gave back can be bought still, and nothing more.
  const left = Number((LIMIT - spent) / PRICE)
  const last = await Promise.all(
    Array.from({ length: left + 4 }, (_, index) => search(index, keys[index % 2]?.key ?? '')),
  )
  assert.equal(countGood(last), left)
  assert.ok((await audit(stage.sql)).ok)
})
