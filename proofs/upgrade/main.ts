/**
 * Proves that the steps of docs/guides/deploy.md fail no call, with processes in place of
 * containers: two gateways, a worker and nginx as compose.yaml configures them; a gateway that is
 * created anew comes back at another address, and a DNS server says so, as Docker's does. Under
 * calls, streams and tasks: changed settings, an upgrade from the last release, a rollback.
 * `npm run prove:upgrade -- [--previous COMMIT] [--rate CALLS_PER_SECOND]`
 * NGINX is the path of its binary. One that is older than 1.27.3, as Debian's, resolves one name of
 * all gateways for each request instead of each name of the upstream.
 */
import { existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../server/base/database/connection/client.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { startSimulatorsProcess } from '../../testbed/laboratory.ts'
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { readConditions, report } from '../../testbed/results.ts'
import { startOwnServer } from '../../tests/support/database/own-postgres.ts'
import { startDnsServer } from '../../tests/support/dns-server.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { type GatewayProcess, startGateway } from '../../tests/support/gateway.ts'
import { ALL_GATEWAYS, NGINX_VERSION, startNginx } from '../../tests/support/nginx.ts'
import { until } from '../../tests/support/until.ts'
import { startLoad } from '../scale/load.ts'
import { findLastRelease, unpackRelease } from '../scale/release.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const NAMES = ['gateway-1', 'gateway-2'] as const
/** Calls that find nobody after both gateways were replaced at once, which the guide warns of. */
const RETURN_CALLS = 10

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  previous: { type: 'string' },
  rate: { type: 'string', default: '100' },
})
if (!NGINX_VERSION) {
  console.error('needs nginx: set NGINX to the path of its binary')
  process.exit(2)
}
const previous = values.previous ?? findLastRelease()
const conditions = readConditions(
  `npm run prove:upgrade -- --previous ${previous}`,
  values.postgres,
)
const release = await unpackRelease(previous)
const dataDir = mkdtempSync(join(tmpdir(), 'tributary-upgrade-'))
const server = await startOwnServer(dataDir, { choice: values.postgres })
const sql = connect(server.place, { patient: true, statementTimeoutMs: 0 })
const simulators = await startSimulatorsProcess()
const dns = await startDnsServer()
const port = await findFreePort()
const gateways = new Map<string, GatewayProcess>()
let lastHost = 10

/** Tells the DNS server where a service is now; undefined once it is gone. */
function publish(name: string, host: string | undefined): void {
  if (host === undefined) dns.addresses.delete(name)
  else dns.addresses.set(name, host)
  dns.addresses.set(
    ALL_GATEWAYS,
    NAMES.flatMap((one) => dns.addresses.get(one) ?? []),
  )
}

/** Returns the data folder of a service, in which all services have the files together. */
function placeOf(name: string): string {
  const [folder, files] = [join(dataDir, name), join(dataDir, 'files')]
  mkdirSync(folder, { recursive: true })
  mkdirSync(files, { recursive: true })
  if (!existsSync(join(folder, 'files'))) symlinkSync(files, join(folder, 'files'))
  return folder
}

/** Starts what a service of Compose runs, at an address that it has not had before. */
async function create(name: string, root: string, more: Readonly<Record<string, string>> = {}) {
  lastHost += 1
  const host = `127.0.0.${lastHost}`
  const env = { DRAIN_DELAY_SECONDS: '5', DRAIN_SECONDS: '30', ROLE: 'api', ...more }
  // The name exists from the container's start, before the gateway listens.
  publish(name, host)
  const place = { dataDir: placeOf(name), databaseUrl: server.url, port, host, root, env }
  gateways.set(name, await startGateway(place))
}

async function remove(name: string): Promise<void> {
  const gateway = gateways.get(name)
  gateway?.signal('SIGTERM')
  const exit = await gateway?.exited
  if (exit?.code !== 0) throw new Error(`${name} ended badly\n${gateway?.log()}`)
  publish(name, undefined)
}

const migrateTo = (root: string) => migrate(sql, join(root, 'migrations'))

await migrateTo(release.folder)
await release.gateways.applySimulators(sql, simulators.url)
const account = await release.gateways.createTestAccount(sql, '100000')
const { key } = await release.keys.createKey(sql, { accountId: account.id })
await Promise.all(NAMES.map((name) => create(name, release.folder)))
await create('worker', release.folder, { ROLE: 'worker' })
const nginx = await startNginx({ dnsPort: dns.port, port })
const ask = async () => {
  const answer = await fetch(`${nginx.url}/v1/balance`, {
    headers: { authorization: `Bearer ${key}` },
  }).catch(() => undefined)
  await answer?.arrayBuffer()
  return answer?.status === 200
}
await until('nginx', async () => ((await ask()) ? true : undefined))

interface Scene {
  readonly name: string
  readonly calls: number
  readonly tasks: number
  readonly failed: number
  /** The first of those that failed. */
  readonly failures: readonly object[]
}

/** Replaces worker and gateways one after the other, as the guide does. */
async function play(name: string, root: string, more: Readonly<Record<string, string>> = {}) {
  const load = startLoad(nginx.url, key, Number(values.rate))
  if (root === ROOT) await migrateTo(root)
  for (const each of [...NAMES, 'worker']) {
    load.note(`the removal of ${each}`)
    await remove(each)
    load.note(`the start of ${each}`)
    await create(each, root, { ...more, ...(each === 'worker' ? { ROLE: 'worker' } : {}) })
    load.note(`the readiness of ${each}`)
  }
  const { calls, tasks } = await load.finish()
  const failed = load.failures.length
  const scene: Scene = { name, calls, tasks, failed, failures: load.failures.slice(0, 50) }
  console.log(`${name}: ${calls} calls, ${tasks} of them tasks, ${failed} failed`)
  for (const failure of load.failures.slice(0, 5)) console.error(failure)
  return scene
}

/** Replaces both at once, as `docker compose up` does after a build: nobody answers meanwhile. */
async function replaceBoth(): Promise<number> {
  await Promise.all(NAMES.map(remove))
  await Promise.all(NAMES.map((name) => create(name, ROOT)))
  await until('the return of both', async () => ((await ask()) ? true : undefined))
  let passed = 0
  for (let count = 0; count < RETURN_CALLS; count += 1) if (await ask()) passed += 1
  return passed
}

const scenes = [
  await play('upgrade', ROOT),
  // Of this version: what the last release does wrong by itself, no change here can mend.
  await play('changed settings', ROOT, { LOG_LEVEL: 'error' }),
  await play('rollback', release.folder),
]
const returned = await replaceBoth()
const { ok: auditOk } = await audit(sql)
await Promise.all([...gateways.values()].map((gateway) => gateway.stop(45_000)))
const failed = scenes.reduce((sum, scene) => sum + scene.failed, 0)
const ok = failed === 0 && auditOk && returned === RETURN_CALLS
if (!ok) console.error(nginx.log())
await nginx.stop()
await dns.stop()
await sql.end({ timeout: 1 })
await simulators.stop(5_000)
await server.remove()
release.remove()
const nginxVersion = NGINX_VERSION.join('.')
report('prove-upgrade', conditions, { ok, nginx: nginxVersion, scenes, returned, auditOk }, [
  `behind nginx ${nginxVersion}`,
  ...scenes.map((scene) => {
    const counted = `${scene.calls} calls, ${scene.tasks} of them tasks, ${scene.failed} failed`
    return `${scene.name}, one after the other: ${counted}`
  }),
  `both at once, then at other addresses: ${returned} of ${RETURN_CALLS} calls pass`,
  `audit ${auditOk ? 'clean' : 'BROKEN'}`,
])
if (!ok) process.exitCode = 1
