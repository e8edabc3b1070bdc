/**
 * Proves that compose.yaml runs as docs/guides/deploy.md says: `npm run prove:compose`. Needs root,
 * Docker with Compose, and free ports 8080 and 3000; where images cannot be pulled, Debian's
 * mmdebstrap as well. Builds the image by its Dockerfile, starts all services, follows the guide,
 * restarts both gateways under load, kills one, restarts the database, and audits the books.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../../testbed/options.ts'
import { readConditions, report, table } from '../../testbed/results.ts'
import { until } from '../../tests/support/until.ts'
import { type Failure, startLoad } from '../scale/load.ts'
import { createProject } from './project.ts'
import { provideImages, removeImages, run } from './stand-ins.ts'

readOptions(import.meta.filename, {})
if (spawnSync('docker', ['info']).status !== 0) {
  console.error('no Docker engine answers: install docker.io and docker-compose, and start dockerd')
  process.exit(2)
}

const URL = 'http://localhost:8080'
const SMOKE = join(import.meta.dirname, '..', '..', 'deploy', 'docker', 'smoke-test.mjs')
const SIMULATORS = 'tributary-proof-simulators'
const HEALTHY_MS = 120_000
const conditions = readConditions('npm run prove:compose')
const scratch = mkdtempSync(join(tmpdir(), 'tributary-compose-'))
const project = await createProject(scratch)
const failures: Failure[] = []
const checks: { readonly name: string; readonly ok: boolean; readonly detail: string }[] = []

function check(name: string, ok: boolean, detail = ''): void {
  checks.push({ name, ok, detail })
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name}  ${detail}`)
}

async function isHealthy(service: string): Promise<boolean> {
  const id = await project.find(service)
  return (await run('docker', 'inspect', '-f', '{{.State.Health.Status}}', id)) === 'healthy'
}

async function untilHealthy(...services: readonly string[]): Promise<void> {
  for (const service of services) {
    const test = async () => ((await isHealthy(service)) ? true : undefined)
    await until(`${service} is healthy`, test, HEALTHY_MS)
  }
}

/** Restarts both gateways, one after the other, while 100 calls a second arrive. */
async function restartGateways(key: string): Promise<void> {
  const load = startLoad(URL, key)
  for (const service of ['gateway-1', 'gateway-2']) {
    load.note(`the restart of ${service}`)
    await project.compose('restart', '--timeout', '45', service)
    await untilHealthy(service)
  }
  const { calls, tasks, perSecond } = await load.finish()
  const failed = load.failures.length
  const detail = `${calls} calls (${perSecond} a second, ${tasks} of them tasks), ${failed} failed`
  check('both gateways restarted under load', failed === 0, detail)
  failures.push(...load.failures.slice(0, 50))
}

/** Stops it as a fault would, not as an operator would, so that the engine starts it again. */
async function killGateway(): Promise<void> {
  const id = await project.find('gateway-1')
  const pid = Number(await run('docker', 'inspect', '-f', '{{.State.Pid}}', id))
  process.kill(pid, 'SIGKILL')
  const restarts = async () =>
    Number(await run('docker', 'inspect', '-f', '{{.RestartCount}}', id)) > 0 ? true : undefined
  await until('the restart of a killed gateway', restarts, HEALTHY_MS)
  await untilHealthy('gateway-1')
  check('a killed gateway is started again', true)
}

async function checkScrapes(): Promise<void> {
  const script =
    "fetch('http://prometheus:9090/api/v1/targets').then((answer) => answer.json())" +
    '.then(({ data }) => console.log(data.activeTargets.map(({ health }) => health).join()))'
  const image = ['--entrypoint', '/usr/local/bin/node', 'tributary', '-e', script]
  const read = async () => {
    const health = await run('docker', 'run', '--rm', '--network', project.network, ...image)
    return health === 'up,up,up' ? health : undefined
  }
  const health = await until('the scrapes', read, HEALTHY_MS).catch((error) => String(error))
  check('Prometheus reads both gateways and the worker', health === 'up,up,up', health)
}

const standIns: string[] = []
try {
  console.log('images …')
  await provideImages(project.images, scratch, standIns)
  await run('docker', 'build', '--network', 'host', '--tag', 'tributary', project.folder)
  await project.compose('up', '--detach', '--no-build')
  await untilHealthy('gateway-1', 'gateway-2', 'worker')
  check('docker compose up: gateways and worker are healthy', true)
  const simulate = ['tributary', 'simulate', '--host', '0.0.0.0', '--port', '9100']
  const place = ['--network', project.network, '--network-alias', 'simulators']
  await run('docker', 'run', '--detach', '--rm', '--name', SIMULATORS, ...place, ...simulate)
  await project.tributary('apply', '/app/catalog/simulators.json')
  const created = await project.tributary(
    'account',
    'create',
    '--name',
    'Acme',
    '--balance',
    '1000',
    '--json',
  )
  const account: string = JSON.parse(created).id
  const key: string = JSON.parse(
    await project.tributary('key', 'create', '--account', account, '--name', 'backend', '--json'),
  ).key
  const person = ['--email', 'you@example.com', '--name', 'You', '--operator']
  const link = await project.tributary('user', 'create', ...person)
  check('the first operator gets a link', link.includes(`${URL}/console/`))
  const smoke = spawnSync(process.execPath, [SMOKE, URL, key, 'sim-chat'], { encoding: 'utf8' })
  check('the smoke test passes', smoke.status === 0, smoke.stderr.trim())
  await checkScrapes()
  await restartGateways(key)
  await killGateway()
  await project.compose('restart', 'postgres')
  await until('the end of a restart of the database', async () => {
    const { status } = await fetch(`${URL}/v1/balance`, {
      headers: { authorization: `Bearer ${key}` },
    }).catch(() => ({ status: 0 }))
    return status === 200 ? true : undefined
  })
  check('calls pass again after a restart of the database', true)
  const audit = project.tributary('audit')
  const broken = await audit.then(
    () => '',
    (error: { readonly stdout?: string }) => error.stdout ?? String(error),
  )
  check('the audit is clean', broken === '', broken)
} finally {
  await run('docker', 'rm', '--force', SIMULATORS).catch(() => undefined)
  await project.compose('down', '--volumes', '--timeout', '45')
  await removeImages(standIns)
  rmSync(scratch, { recursive: true, force: true })
}

const ok = checks.every((one) => one.ok)
report('prove-compose', conditions, { ok, standIns, checks, failures }, [
  ...table(checks.map(({ name, ok, detail }) => [name, ok ? 'ok' : 'FAILED', detail])),
  '',
  `stand-ins of Debian packages: ${standIns.join(', ') || 'none'}`,
])
if (!ok) process.exitCode = 1
