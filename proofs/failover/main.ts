/**
 * Proves that a primary may die, freeze, lose etcd or fill its disk, and be switched or restarted
 * on purpose, under calls, streams and tasks: nothing that was served is lost, nothing is charged
 * twice, and no new call is refused that may wait. Three PostgreSQL under Patroni and etcd behind
 * HAProxy, with the files of deploy/failover.
 * `npm run prove:failover -- [--rounds 20] [--rate 6] [--seed N]`.
 */
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../server/base/database/connection/client.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { startSimulatorsProcess } from '../../testbed/laboratory.ts'
import { readOptions } from '../../testbed/options.ts'
import { createRandom } from '../../testbed/random.ts'
import { quantile, readConditions, report, table } from '../../testbed/results.ts'
import { makeDataDir } from '../../tests/support/database/own-postgres.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { applySimulators, createTestAccount, startGateway } from '../../tests/support/gateway.ts'
import { until } from '../../tests/support/until.ts'
import { judge, readRows } from '../outage/judge.ts'
import { startLoad } from '../outage/load.ts'
import { LOGS, startCluster, whyNoCluster } from './cluster.ts'
import { FAULTS } from './faults.ts'
import { haveTasksEnded, judgeTasks, startTasks } from './tasks.ts'

const MIGRATIONS = new URL('../../migrations', import.meta.url).pathname
const ADMIT_WAIT_SECONDS = 60
const STREAM_MS_MAX = 30_000
/** The quiet time before the first fault and after each one. */
const CALM_MS = 6_000
const ROUND_MS_MAX = 180_000
const PROBE_MS = 200

const values = readOptions(import.meta.filename, {
  rounds: { type: 'string', default: '20' },
  rate: { type: 'string', default: '6' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
})
const refusal = whyNoCluster()
if (refusal !== undefined) {
  console.error(refusal)
  process.exit(2)
}
const logs = join(tmpdir(), 'prove-failover.log')
const rounds = Number(values.rounds)
const perSecond = Number(values.rate)
const seed = Number(values.seed)
const conditions = readConditions(
  `npm run prove:failover -- --rounds ${rounds} --rate ${perSecond} --seed ${seed}`,
)
console.log(`seed ${seed}`)
const started = performance.now()
const say = (text: string) => {
  console.log(`${String(Math.round((performance.now() - started) / 1_000)).padStart(5)} s  ${text}`)
}

const cluster = await startCluster(await findFreePort())
say('three servers are up')
const sql = connect({ url: cluster.url }, { patient: true, statementTimeoutMs: 0 })
await migrate(sql, MIGRATIONS)
const simulators = await startSimulatorsProcess()
await applySimulators(sql, simulators.url)
const account = await createTestAccount(sql, '100000')
const keys = []
const keyCount = Math.ceil((rounds * ROUND_MS_MAX * perSecond) / 1_000 / 2)
while (keys.length < keyCount) keys.push(await createKey(sql, { accountId: account.id }))
const { key: taskKey } = await createKey(sql, { accountId: account.id })
const { key: probeKey, id: probeKeyId } = await createKey(sql, { accountId: account.id })
const gateways = await Promise.all(
  [0, 1].map(() =>
    startGateway({
      dataDir: makeDataDir(),
      databaseUrl: cluster.url,
      env: { ADMIT_WAIT_SECONDS: String(ADMIT_WAIT_SECONDS) },
    }),
  ),
)
const urls = gateways.map(({ url }) => url)
const stage = { gateways: gateways.map((process) => ({ process, isUp: true })), keys }
const load = startLoad(stage, createRandom(seed), { perSecond, streamMsMax: STREAM_MS_MAX })
const tasks = startTasks(urls, taskKey)

/** Short calls, one after the other: their durations show how long callers wait. */
const probes: { readonly at: number; readonly tookMs: number; readonly status: number }[] = []
let isProbing = true
const probing = (async () => {
  while (isProbing) {
    const at = performance.now()
    const answer = await fetch(`${urls[probes.length % urls.length]}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${probeKey}`, 'content-type': 'application/json' },
      body: '{"model":"sim-chat","max_tokens":20,"messages":[{"role":"user","content":"hello"}]}',
    }).catch(() => undefined)
    const text = await answer?.text().catch(() => undefined)
    if (answer?.status !== 200) {
      writeFileSync(logs, gateways.map((one) => one.log()).join('\n\n'))
      say(`refused: ${answer?.status} ${text?.slice(0, 300)}`)
    }
    probes.push({ at, tookMs: performance.now() - at, status: answer?.status ?? 0 })
    await sleep(PROBE_MS)
  }
})()

const random = createRandom(seed + 1)
const played: { readonly name: string; readonly waitedMs: number; readonly refused: number }[] = []
await sleep(CALM_MS)
for (let round = 0; round < rounds; round += 1) {
  // Each fault once in turn, then in random order.
  const fault = FAULTS[round] ?? FAULTS[random.integer(0, FAULTS.length - 1)] ?? FAULTS[0]
  const leader = await cluster.leader()
  if (!leader) throw new Error('no leader')
  const from = performance.now()
  try {
    await fault.run(cluster, leader)
    await cluster.untilWhole()
  } catch (cause) {
    cluster.writeLogs()
    const end = `round ${round + 1}, ${fault.name} (${leader.name}), did not end: see ${LOGS}`
    throw new Error(end, { cause })
  }
  await until('a call after it', () => (probes.at(-1)?.at ?? 0) > from)
  await sleep(CALM_MS)
  const own = probes.filter(({ at, tookMs }) => at + tookMs >= from)
  const waitedMs = Math.round(Math.max(...own.map(({ tookMs }) => tookMs)))
  const refused = own.filter(({ status }) => status !== 200).length
  played.push({ name: fault.name, waitedMs, refused })
  say(`${fault.name} (${leader.name}): the longest call took ${waitedMs} ms, ${refused} refused`)
}
isProbing = false
await probing
const requests = await load.end()
const created = await tasks.end()
say('waiting for the last open hold and task')
const isQuiet = await until(
  'quiet',
  async () => {
    const open = await sql`select from hold where state = 'open'`
    return open.length === 0 && (await haveTasksEnded(sql))
  },
  ROUND_MS_MAX,
).catch(() => false)

const entries = await simulators.readBook()
const rows = await readRows(sql)
const byKey = Map.groupBy(rows, ({ key_id: id }) => id)
const byMarker = Map.groupBy(entries, ({ marker }) => marker ?? '')
const breaks = requests.flatMap((one) => {
  const own = byMarker.get(one.call.marker) ?? []
  return judge(one, byKey.get(one.keyId) ?? [], own, new Set()).breaks
})
breaks.push(...(await judgeTasks(created, entries, sql)))
const served = probes.filter(({ status }) => status === 200).length
const probed = (byKey.get(probeKeyId) ?? []).filter(({ charged }) => (charged ?? 0n) > 0n).length
if (probed !== served) breaks.push(`${served} probes served, ${probed} charged`)
const { checks } = await audit(sql)
breaks.push(...checks.filter(({ ok }) => !ok).map((check) => `audit: ${JSON.stringify(check)}`))
if (!isQuiet) breaks.push('a hold or a task is still open')
const attempts = requests.flatMap((one) => one.attempts)
const refusedCalls = attempts.filter(
  ({ outcome, status }) => outcome === 'refused' && status >= 500,
)
const refusedTasks = created.filter(({ status }) => status !== 200)
const good = played.filter(({ refused }) => refused === 0).length
writeFileSync(logs, gateways.map((one) => one.log()).join('\n\n'))
if (breaks.length > 0 || good < rounds) console.log(`the gateways' logs: ${logs}`)
for (const gateway of gateways) await gateway.stop(10_000)
await sql.end({ timeout: 1 })
await simulators.stop(5_000)
await cluster.stop()

const names = [...new Set(played.map(({ name }) => name))]
const ok = breaks.length === 0 && good === rounds && refusedCalls.length === 0
report(
  'prove-failover',
  conditions,
  { seed, rounds, good, ok, breaks, played, calls: attempts.length, tasks: created.length },
  [
    `${attempts.length} calls and streams, ${served} probes and ${created.length} tasks at two`,
    `gateways with ADMIT_WAIT_SECONDS=${ADMIT_WAIT_SECONDS}, longest probes in ms:`,
    '',
    ...table([
      ['what happened', 'times', 'median', 'at most', 'refused'],
      ...names.map((name) => {
        const own = played.filter((one) => one.name === name)
        const waits = own.map(({ waitedMs }) => waitedMs)
        const refused = own.reduce((sum, one) => sum + one.refused, 0)
        return [name, own.length, quantile(waits, 0.5), Math.max(...waits), refused]
      }),
    ]),
    '',
    `${refusedCalls.length} calls and ${refusedTasks.length} tasks refused by the gateways`,
    ...refusedCalls.map(
      ({ kind, status, marker, refusal }) => `  ${marker} (${kind}): ${status} ${refusal}`,
    ),
    breaks.length === 0
      ? 'Every answer is in the books, charged once and as billed; the audit is clean.'
      : `${breaks.length} BREAKS:\n${breaks.slice(0, 40).join('\n')}`,
    `${good} of ${rounds} rounds without a refusal`,
    ok ? 'PASSED' : 'FAILED',
  ],
)
process.exit(ok ? 0 : 1)
