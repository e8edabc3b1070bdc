/**
 * Proves that three gateways and a worker on one PostgreSQL behind nginx act as one: limits pass
 * what was sold however calls are spread, and a rolling restart under 100 requests a second with
 * streams fails none: `npm run prove:scale`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '../../server/accounts/manage-keys.ts'
import { audit } from '../../server/ledger/audit/audit.ts'
import { openLaboratory } from '../../testbed/laboratory.ts'
import { readConditions, report } from '../../testbed/results.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { type GatewayProcess, startGateway } from '../../tests/support/gateway.ts'
import { startProcess } from '../../tests/support/processes.ts'
import { until } from '../../tests/support/until.ts'

const GATEWAYS = 3
const PER_SECOND = 100
const EVERY_MS = 1_000 / PER_SECOND
const TIMEOUT_MS = 60_000

const conditions = readConditions('npm run prove:scale')
const laboratory = await openLaboratory({ shared: true, keys: 1 })
const folder = mkdtempSync(join(tmpdir(), 'tributary-scale-'))
const env = { DRAIN_DELAY_SECONDS: '3' }
const ports: number[] = []
for (let index = 0; index < GATEWAYS; index += 1) ports.push(await findFreePort())
const proxyPort = await findFreePort()
const proxyUrl = `http://127.0.0.1:${proxyPort}`

function start(port: number, more = {}): Promise<GatewayProcess> {
  const { dataDir, databaseUrl = '' } = laboratory
  return startGateway({ dataDir, databaseUrl, port, env: { ...env, ...more } })
}

async function startProxy() {
  const path = join(folder, 'nginx.conf')
  const servers = ports.map((port) => `server 127.0.0.1:${port} max_fails=1 fail_timeout=1s;`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    path,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  upstream gateway { ${servers.join(' ')} keepalive 64; }
  server {
    listen 127.0.0.1:${proxyPort};
    location / {
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_next_upstream error timeout;
      proxy_read_timeout 1h;
    }
  }
}
`,
  )
  const proxy = await startProcess(['nginx', '-c', path, '-p', folder])
  await until('nginx', async () => (await fetch(`${proxyUrl}/healthz`).catch(() => undefined))?.ok)
  return proxy
}

function send(url: string, key: string, content: string, stream = false): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-chat', stream, messages: [{ role: 'user', content }] }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
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
      const answer = await send(urls[index % urls.length] ?? proxyUrl, key, 'hi')
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
      send(urls[index % urls.length] ?? proxyUrl, key, '[[chunks:20]] [[chunk-delay:200]]', true),
    ),
  )
  await Promise.all(answers.map((answer) => answer.text()))
  return answers.filter(({ status }) => status === 200).length
}

const failures: string[] = []

async function callOnce(key: string, isStream: boolean): Promise<void> {
  try {
    const content = isStream ? '[[chunks:20]] [[chunk-delay:100]]' : 'hi'
    const answer = await send(proxyUrl, key, content, isStream)
    const text = await answer.text()
    const isWhole = !isStream || text.endsWith('data: [DONE]\n\n')
    if (answer.status !== 200 || !isWhole) failures.push(`${answer.status} ${text.slice(0, 200)}`)
  } catch (error) {
    failures.push(String(error))
  }
}

/** Restarts every gateway in turn under load. Returns the number of calls. */
async function restartAll(gateways: GatewayProcess[]): Promise<number> {
  const [key] = laboratory.keys
  const calls: Promise<void>[] = []
  const timer = setInterval(() => {
    calls.push(callOnce(key?.key ?? '', calls.length % 10 === 0))
  }, EVERY_MS)
  for (const [index, gateway] of gateways.entries()) {
    gateway.signal('SIGTERM')
    const exit = await gateway.exited
    if (exit.code !== 0) failures.push(`a gateway ended with ${exit.code ?? exit.signal}`)
    gateways[index] = await start(gateway.port)
  }
  clearInterval(timer)
  await Promise.all(calls)
  return calls.length
}

const gateways: GatewayProcess[] = []
for (const port of ports) gateways.push(await start(port))
const worker = await start(await findFreePort(), { ROLE: 'worker' })
const proxy = await startProxy()
const urls = gateways.map(({ url }) => url)
const perMinute = { requests_per_minute: 60 }
const result = {
  passedOfOneGateway: await countPassed(urls.slice(0, 1), await createLimited(perMinute), 90),
  passedSpread: await countPassed(urls, await createLimited(perMinute), 90),
  passedByProxy: await countPassed([proxyUrl], await createLimited(perMinute), 90),
  concurrentOfOneGateway: await countConcurrent(urls.slice(0, 1)),
  concurrentSpread: await countConcurrent(urls),
  callsDuringRestarts: await restartAll(gateways),
  failed: failures.length,
  auditOk: false,
}
await Promise.all([...gateways, worker].map((one) => one.stop(30_000)))
await proxy.stop(2_000)
result.auditOk = await laboratory.withDatabase(async (sql) => (await audit(sql)).ok)
await laboratory.close()
if (failures.length === 0) rmSync(folder, { recursive: true, force: true })
else console.error(`the log of nginx is in ${folder}`)
const limits = [result.passedOfOneGateway, result.passedSpread, result.passedByProxy]
const isExact =
  limits.every((passed) => passed === 60) &&
  result.concurrentOfOneGateway === 6 &&
  result.concurrentSpread === 6
report('prove-scale', conditions, { ...result, failures: failures.slice(0, 10) }, [
  `60 a minute, 90 calls: ${limits.join(', ')} pass one gateway, three in turn, nginx`,
  `6 at once, 24 streams: ${result.concurrentOfOneGateway}, ${result.concurrentSpread}`,
  `rolling restart: ${result.callsDuringRestarts} calls, ${result.failed} failed`,
  `audit ${result.auditOk ? 'clean' : 'BROKEN'}`,
])
if (!isExact || result.failed > 0 || !result.auditOk) process.exitCode = 1
