/**
 * kill -9 of the gateway, of its PostgreSQL and of both, under load: the short version of
 * `npm run prove:kill`, with the same three books.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runCycle } from '../../proofs/kill/cycle.ts'
import { type Laboratory, openLaboratory } from '../../testbed/laboratory.ts'
import { createRandom } from '../../testbed/random.ts'
import type { GatewayProcess } from '../support/gateway.ts'

let laboratory: Laboratory
let gateway: GatewayProcess
before(async () => {
  laboratory = await openLaboratory({ accounts: 2, keys: 800 })
  gateway = await laboratory.startGateway()
})
after(async () => {
  await gateway.stop(5_000)
  await laboratory.close()
})

const random = createRandom(20_261_121)
let bookSince = 0
for (const [cycle, victim] of (['gateway', 'postgres', 'both'] as const).entries()) {
  test(`killed: ${victim}. Nothing is lost, nothing is charged twice`, async () => {
    const options = { cycle, victim, random, loadMs: 700, perSecond: 60 }
    const ran = await runCycle(laboratory, gateway, bookSince, options)
    gateway = ran.gateway
    bookSince = ran.result.bookSequence
    assert.deepEqual(ran.result.breaks, [])
    const complete = ran.result.verdicts.filter(({ call }) => call.outcome === 'complete')
    assert.ok(complete.length > 0, 'some calls were answered')
  })
}
