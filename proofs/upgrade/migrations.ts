/**
 * Proves that every state of the database since the last release can be upgraded under load: each
 * migration has a version of this repository whose newest one it is. A gateway of that version
 * serves calls, streams and tasks while this version migrates its database and a gateway of this
 * version serves beside it; then the old one ends. No call fails, and the books agree.
 * `npm run prove:migrations -- [--only NUMBER] [--rate CALLS_PER_SECOND] [--seconds SECONDS]`;
 * needs the history of the repository.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../server/base/database/connection/client.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { startSimulatorsProcess } from '../../testbed/laboratory.ts'
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { readConditions, report } from '../../testbed/results.ts'
import { startOwnServer } from '../../tests/support/database/own-postgres.ts'
import { type GatewayProcess, startGateway } from '../../tests/support/gateway.ts'
import { startLoad } from '../scale/load.ts'
import { findLastRelease, type Release, unpackRelease } from '../scale/release.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** Versions at once: packages are installed and tasks awaited most of the time. */
const AT_ONCE = 3

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  only: { type: 'string' },
  rate: { type: 'string', default: '30' },
  seconds: { type: 'string', default: '3' },
})
const chosen = values.only === undefined ? '' : ` -- --only ${values.only}`
const conditions = readConditions(`npm run prove:migrations${chosen}`, values.postgres)

interface Upgrade {
  /** The newest migration of the version that is upgraded. */
  readonly from: string
  readonly commit: string
  readonly calls: number
  readonly tasks: number
  readonly failures: readonly object[]
  readonly auditOk: boolean
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
}

/**
 * Returns the commit that added each migration since the last release under its present number, the
 * release first. Several migrations of one commit are one version.
 */
function findVersions(): { from: string; commit: string }[] {
  const release = git('rev-parse', findLastRelease())
  const shipped = git('ls-tree', '--name-only', release, 'migrations/').split('\n')
  const commits = new Map<string, string>()
  const files = readdirSync(join(ROOT, 'migrations')).filter((name) => name.endsWith('.sql'))
  for (const file of files.toSorted().map((name) => `migrations/${name}`)) {
    const isShipped = shipped.includes(file)
    const added = isShipped
      ? release
      : git('log', '--diff-filter=A', '--format=%H', '-1', '--', file)
    commits.set(added, numberOf(file))
  }
  return [...commits].map(([commit, from]) => ({ from, commit })).slice(0, -1)
}

function numberOf(file: string): string {
  return file.replace('migrations/', '').slice(0, 4)
}

async function upgrade(from: string, release: Release): Promise<Upgrade> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-migrations-'))
  const server = await startOwnServer(dataDir, { choice: values.postgres })
  const sql = connect(server.place, { patient: true, statementTimeoutMs: 0 })
  const gateways: GatewayProcess[] = []
  const start = async (root?: string) => {
    const gateway = await startGateway({ dataDir, databaseUrl: server.url, ...(root && { root }) })
    gateways.push(gateway)
    return gateway
  }
  try {
    await migrate(sql, join(release.folder, 'migrations'))
    await release.gateways.applySimulators(sql, simulators.url)
    const account = await release.gateways.createTestAccount(sql, '100000')
    const { key } = await release.keys.createKey(sql, { accountId: account.id })
    const before = await start(release.folder)
    const load = startLoad(before.url, key, Number(values.rate))
    const pause = () => sleep(Number(values.seconds) * 1_000)
    await pause()
    load.note('the migration')
    await migrate(sql, join(ROOT, 'migrations'))
    const after = await start()
    load.note('the readiness of this version')
    const beside = startLoad(after.url, key, Number(values.rate))
    await pause()
    const ended = [await load.finish()]
    await before.stop()
    ended.push(await beside.finish())
    await after.stop()
    const { ok: auditOk } = await audit(sql)
    const { commit } = release
    const failures = [...load.failures, ...beside.failures].slice(0, 20)
    const sum = (of: 'calls' | 'tasks') => ended.reduce((total, each) => total + each[of], 0)
    return { from, commit, calls: sum('calls'), tasks: sum('tasks'), failures, auditOk }
  } finally {
    for (const gateway of gateways) if (!gateway.hasExited()) await gateway.stop(5_000)
    await sql.end({ timeout: 1 })
    await server.remove()
  }
}

const upgrades: Upgrade[] = []
const known = findVersions()
const wanted = known.filter(({ from }) => values.only === undefined || from === values.only)
if (wanted.length === 0) {
  throw new Error(`--only takes one of ${known.map(({ from }) => from).join(', ')}`)
}
const versions = wanted.values()
const simulators = await startSimulatorsProcess()

/** Upgrades one version after the other, of those that nobody has taken. */
async function runUpgrades(): Promise<void> {
  for (const { from, commit } of versions) {
    const release = await unpackRelease(commit)
    const done = await upgrade(from, release).finally(() => release.remove())
    console.log(describe(done))
    for (const failure of done.failures.slice(0, 3)) console.error(failure)
    upgrades.push(done)
  }
}

function describe({ from, calls, tasks, failures, auditOk }: Upgrade): string {
  const counted = `${calls} calls, ${tasks} of them tasks, ${failures.length} failed`
  return `from ${from}: ${counted}, audit ${auditOk ? 'clean' : 'BROKEN'}`
}

await Promise.all(Array.from({ length: AT_ONCE }, runUpgrades))
await simulators.stop(5_000)
upgrades.sort((one, other) => one.from.localeCompare(other.from))
const ok =
  upgrades.length > 0 && upgrades.every(({ failures, auditOk }) => failures.length === 0 && auditOk)
report('prove-migrations', conditions, { ok, upgrades }, upgrades.map(describe))
if (!ok) process.exitCode = 1
