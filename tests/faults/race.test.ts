/**
 * A balance for exactly N calls lets exactly N pass, through two gateways on one database: the
 * short version of `npm run prove:race`.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type GatewayProcess, type Stage, startGateway, startStage } from '../support/gateway.ts'

const CALLS = 300
const PRICE = 0.03

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

for (const affordable of [1, 100, CALLS - 1]) {
  test(`${affordable} of ${CALLS} concurrent calls are paid for: ${affordable} pass`, async () => {
    const { account, key } = await stage.createCaller((affordable * PRICE).toFixed(2))
    const send = async (index: number) => {
      const url = index % 2 === 0 ? stage.url : second.url
      const answer = await fetch(`${url}/v1/search`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
        body: '{"Type":"web","Query":"rivers"}',
      })
      await answer.arrayBuffer()
      return answer.status
    }
    const statuses = await Promise.all(Array.from({ length: CALLS }, (_, index) => send(index)))
    const count = (status: number) => statuses.filter((one) => one === status).length
    assert.deepEqual(
      statuses.filter((status) => status !== 200 && status !== 402),
      [],
    )
    assert.deepEqual([count(200), count(402)], [affordable, CALLS - affordable])
    const [left] = await stage.sql<{ available: bigint; held: bigint; debt: bigint }[]>`
      select available, held, debt from balance where account_id = ${account.id}`
    assert.deepEqual({ ...left }, { available: 0n, held: 0n, debt: 0n })
  })
}
