/**
 * The primary dies under load and its synchronous replica is promoted behind the same address: no
 * settled call is lost, and the gateways go on by themselves. One refuses the calls of the gap, one
 * lets them wait.
 */
import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { connect } from '../../server/base/database/connection/client.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import { openDatabase } from '../../server/base/database/open.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { startSimulators } from '../../simulators/index.ts'
import { createCluster, createReplica, startTcpPostgres } from '../support/database/tcp-postgres.ts'
import { findFreePort } from '../support/free-port.ts'
import { applySimulators, createTestAccount, startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')
const TRUSTED = 'all 127.0.0.1/32 trust'
const RULES = ['local all all trust', `host all ${TRUSTED}`, `host replication ${TRUSTED}`]
const CALLERS = 8
const STREAM = '[[tokens:60]] [[chunks:60]] [[chunk-delay:200]]'
const STREAMS = 3

/** Creates a primary with a catalog and a key, and a replica that each commit waits for. */
async function openServers(t: TestContext, simulatorsUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-failover-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [first, second] = [join(folder, 'primary'), join(folder, 'replica')]
  createCluster(first, RULES)
  const prepared = await startTcpPostgres(first)
  const sql = connect({ url: prepared.url() }, { connections: 1, patient: true })
  await migrate(sql, MIGRATIONS)
  await applySimulators(sql, simulatorsUrl)
  const account = await createTestAccount(sql)
  const { key } = await createKey(sql, { accountId: account.id })
  const { key: fresh } = await createKey(sql, { accountId: account.id })
  await sql.end()
  await prepared.stop()
  createReplica(first, second, prepared.port)
  const primary = await startTcpPostgres(
    first,
    ['synchronous_standby_names=replica'],
    prepared.port,
  )
  const replica = await startTcpPostgres(second)
  t.after(() => Promise.all([primary.stop(), replica.stop()]))
  return { folder, primary, replica, key, fresh }
}

/** Passes connections to the port that is set, as a virtual address or a proxy does. */
async function openAddress(t: TestContext, port: number) {
  const sockets = new Set<Socket>()
  const address = { target: port, port: await findFreePort() }
  const server: Server = createServer((client) => {
    const upstream = dial(address.target, '127.0.0.1')
    for (const [socket, other] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(socket)
      socket.on('error', () => other.destroy()).on('close', () => other.destroy())
      socket.pipe(other)
    }
  })
  server.listen(address.port, '127.0.0.1')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return address
}

/** Sends what arrives while there is no primary: each needs the database before its hold. */
function startLateCalls(url: string, key: string) {
  const send = async (path: string, body: object, more: Readonly<Record<string, string>> = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more }
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    await answer.arrayBuffer()
    return answer.status
  }
  const chat = { model: 'sim-chat', messages: [{ role: 'user', content: 'hi' }] }
  const video = {
    model: 'doubao-seedance-2-0-260128',
    content: [{ type: 'text', text: 'a river' }],
  }
  return Promise.all([
    send('/v1/chat/completions', chat),
    send('/v1/chat/completions', chat, { 'idempotency-key': 'in-the-gap' }),
    send('/v1/videos/generations', video),
  ])
}

/** Opens a WebSocket for responses. `ask` resolves to the last event of a message's response. */
async function openSocket(t: TestContext, url: string, key: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${key}` },
  })
  t.after(() => socket.terminate())
  await once(socket, 'open')
  return {
    async ask(more: object): Promise<{ readonly type: string; readonly id: string }> {
      const input = [{ role: 'user', content: 'hi' }]
      socket.send(JSON.stringify({ type: 'response.create', model: 'sim-chat', input, ...more }))
      for await (const [data] of on(socket, 'message')) {
        const { type, response } = JSON.parse(String(data))
        if (/^error$|completed$|failed$/.test(type)) return { type, id: response?.id }
      }
      throw new Error('unreachable')
    },
  }
}

/** Calls again and again from several callers, and keeps how each call was answered. */
function startCalls(url: string, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const statuses: number[] = []
  const served: string[] = []
  let stopped = false
  async function call(content: string, stream: boolean): Promise<string> {
    const messages = [{ role: 'user', content }]
    const body = JSON.stringify({ model: 'sim-chat', stream, messages })
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    const text = await answer.text()
    statuses.push(answer.status)
    if (answer.status === 200) served.push(answer.headers.get('x-request-id') ?? '')
    return text
  }
  const streams = Array.from({ length: STREAMS }, () => call(STREAM, true))
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!stopped) await call('hi', false)
  })
  return {
    statuses,
    served,
    async stop() {
      stopped = true
      await Promise.all(callers)
      return await Promise.all(streams)
    },
  }
}

test('the primary dies under load and its replica is promoted', async (t) => {
  const simulators = await startSimulators({ port: 0 })
  t.after(() => simulators.stop())
  const { folder, primary, replica, key, fresh } = await openServers(t, simulators.url)
  const dataDir = join(folder, 'data')
  await assert.rejects(
    openDatabase({ databaseUrl: replica.url(), dataDir, owner: true }),
    /this PostgreSQL is a read-only replica: name the primary in DATABASE_URL/,
  )
  await assert.rejects(
    openDatabase({ databaseUrl: replica.url('127.0.0.1,127.0.0.2'), dataDir, owner: true }),
    /DATABASE_URL names several hosts: name one address that follows the primary/,
  )
  const address = await openAddress(t, primary.port)
  const databaseUrl = `postgres://operator@127.0.0.1:${address.port}/postgres`
  const gateway = await startGateway({ dataDir, databaseUrl })
  const patient = await startGateway({
    dataDir: join(folder, 'patient'),
    databaseUrl,
    env: { ADMIT_WAIT_SECONDS: '60' },
  })
  t.after(() => [gateway, patient].map(({ signal }) => signal('SIGKILL')))
  const calls = startCalls(gateway.url, key)
  const waiting = startCalls(patient.url, key)
  const both = [calls, waiting]
  const socket = await openSocket(t, patient.url, fresh)
  const { id: previous } = await socket.ask({})
  await until('calls before', () => both.every(({ served }) => served.length >= 40))

  const refused = () => calls.statuses.filter((status) => status === 503).length
  primary.kill()
  const continued = socket.ask({ previous_response_id: previous })
  await until('calls without a server', () => refused() > 0)
  address.target = replica.port
  const withoutServer = refused() + CALLERS
  await until('a call while there is only the replica', () => refused() > withoutServer)
  const late = startLateCalls(patient.url, fresh)
  const sql = connect({ url: replica.url() }, { connections: 1, patient: true })
  t.after(() => sql.end())
  await sql`select pg_promote()`
  const before = both.map(({ served }) => served.length)
  await until('calls after', () =>
    both.every(({ served }, i) => served.length >= (before[i] ?? 0) + 40),
  )

  const streams = (await Promise.all(both.map((one) => one.stop()))).flat()
  for (const text of streams) assert.match(text, /data: \[DONE\]\n\n$/)
  assert.deepEqual([...new Set(calls.statuses)].sort(), [200, 503], gateway.log())
  assert.deepEqual([...new Set(waiting.statuses)], [200], patient.log())
  assert.deepEqual(await late, [200, 200, 200])
  assert.equal((await continued).type, 'response.completed')
  assert.equal((await fetch(`${gateway.url}/readyz`)).status, 200)
  // A hold whose commit was lost on its way back is released once its statement must have ended.
  await until('no open hold', async () => {
    const open = await sql`select from hold where state = 'open'`
    return open.length === 0
  })
  await Promise.all([gateway.stop(), patient.stop()])
  const settled = await sql<{ request_id: string }[]>`
    select request_id from call where status = 'succeeded' and charged > 0`
  const known = new Set(settled.map(({ request_id: id }) => id))
  const lost = both.flatMap(({ served }) => served).filter((id) => !known.has(id))
  assert.deepEqual(lost, [], 'every call that was served is in the books')
  assert.deepEqual((await audit(sql)).ok, true)
})
