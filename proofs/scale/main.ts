/**
 * Proves that three gateways and a worker on one PostgreSQL behind nginx act as one: limits are
 * exact however calls are spread; a rolling restart, and an upgrade from the last release
 * and back, under 100 requests a second with streams and tasks fail none; the kill of a gateway
 * loses nothing: `npm run prove:scale -- [--previous COMMIT]`.
 */

import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { openLaboratory } from '../../testbed/laboratory.ts'
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { readConditions, report } from '../../testbed/results.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { type GatewayProcess, startGateway } from '../../tests/support/gateway.ts'
import { type Killed, killOne } from './kill.ts'
import { type Failure, replaceEach, send, startLoad } from './load.ts'
import { startProxy } from './proxy.ts'
import { findLastRelease } from './release.ts'
import { type Upgrade, upgradeAndBack } from './upgrade.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  previous: { type: 'string' },
})
const { postgres } = values
const previous = values.previous ?? findLastRelease()
const GATEWAYS = 3
const conditions = readConditions(`npm run prove:scale -- --previous ${previous}`, postgres)
const env = { DRAIN_DELAY_SECONDS: '3' }
const laboratory = await openLaboratory({ shared: true, keys: 1, postgres })
const ports: number[] = []
for (let index = 0; index < GATEWAYS; index += 1) ports.push(await findFreePort())

function start(port: number, more = {}): Promise<GatewayProcess> {
  const { dataDir, databaseUrl = '' } = laboratory
  return startGateway({ dataDir, databaseUrl, port, env: { ...env, ...more } })
}

async function createLimited(limits: object): Promise<string> {
  const [accountId = ''] = laboratory.accountIds
  return await laboratory.withDatabase(
    async (sql) => (await createKey(sql, { accountId, limits })).key,
  )
}

/** Returns how many of `count` calls pass, sent to `urls` in turn. */
async function countPassed(urls: readonly string[], key: string, count: number): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const answer = await send(urls[index % urls.length] ?? proxy.url, key, 'hi')
      await answer.arrayBuffer()
      return answer.status
    }),
  )
  return statuses.filter((status) => status === 200).length
}

/** Returns how many of 24 streams are open at the same time under a limit of 6. */
async function countConcurrent(urls: readonly string[]): Promise<number> {
  const key = await createLimited({ concurrent_calls: 6 })
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      send(urls[index % urls.length] ?? proxy.url, key, '[[chunks:20]] [[chunk-delay:200]]', true),
    ),
  )
  await Promise.all(answers.map((answer) => answer.text()))
  return answers.filter(({ status }) => status === 200).length
}

async function restartAll(gateways: GatewayProcess[]) {
  const load = startLoad(proxy.url, laboratory.keys[0]?.key ?? '')
  await replaceEach(gateways, load, (port) => start(port))
  const { calls, tasks, perSecond } = await load.finish()
  return { calls, tasks, perSecond, failures: load.failures }
}

const gateways: GatewayProcess[] = []
for (const port of ports) gateways.push(await start(port))
const worker = await start(await findFreePort(), { ROLE: 'worker' })
const proxy = await startProxy(ports)
const urls = gateways.map(({ url }) => url)
const perMinute = { requests_per_minute: 60 }
const limits = {
  passedOfOneGateway: await countPassed(urls.slice(0, 1), await createLimited(perMinute), 90),
  passedSpread: await countPassed(urls, await createLimited(perMinute), 90),
  passedByProxy: await countPassed([proxy.url], await createLimited(perMinute), 90),
  concurrentOfOneGateway: await countConcurrent(urls.slice(0, 1)),
  concurrentSpread: await countConcurrent(urls),
}
const restart = await restartAll(gateways)
const kill = await killOne(proxy.url, laboratory, gateways, start)
await Promise.all([...gateways, worker].map((one) => one.stop(30_000)))
await proxy.stop(restart.failures.length + kill.failures.length > 0)
const auditOk = await laboratory.withDatabase(async (sql) => (await audit(sql)).ok)
await laboratory.close()
const upgrade = await upgradeAndBack(previous, env, postgres)

type Numbers = Pick<Upgrade, 'calls' | 'tasks' | 'perSecond'>
const describe = ({ calls, tasks, perSecond }: Numbers) =>
  `${calls} calls (${perSecond} a second, ${tasks} of them tasks)`
const describeKill = ({ cut, unrecorded, failures }: Killed) =>
  `${cut} cut off, ${failures.length} others failed, ${unrecorded} answered without a record`
const passed = [limits.passedOfOneGateway, limits.passedSpread, limits.passedByProxy]
const concurrent = [limits.concurrentOfOneGateway, limits.concurrentSpread]
const isExact = passed.every((count) => count === 60) && concurrent.every((count) => count === 6)
const isClean = auditOk && upgrade.auditOk
const failed = restart.failures.length + kill.failures.length + upgrade.failures.length
const shorten = <T extends { readonly failures: readonly Failure[] }>(part: T) => ({
  ...part,
  failed: part.failures.length,
  failures: part.failures.slice(0, 50),
})
const result = {
  limits,
  restart: shorten(restart),
  kill: shorten(kill),
  upgrade: shorten(upgrade),
  auditOk: isClean,
}
report('prove-scale', conditions, result, [
  `60 a minute, 90 calls: ${passed.join(', ')} pass one gateway, three in turn, nginx`,
  `6 at once, 24 streams: ${concurrent.join(', ')}`,
  `rolling restart: ${describe(restart)}, ${result.restart.failed} failed`,
  `kill -9 of a gateway: ${describe(kill)}, ${describeKill(kill)}`,
  `upgrade from ${previous} (schema ${upgrade.schemas.join(' to ')}) and back: ` +
    `${describe(upgrade)}, ${result.upgrade.failed} failed`,
  `audit ${isClean ? 'clean' : 'BROKEN'}`,
])
if (!isExact || failed > 0 || kill.unrecorded > 0 || !isClean) process.exitCode = 1
