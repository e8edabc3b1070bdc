/**
 * Measures the cost of a web framework on the data path. The same JSON pass-through on node:http
 * with find-my-way and on Fastify, in turns, medians of five. Fastify is installed into a temporary
 * folder for the run: the gateway does not depend on it.
 */
import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Pool } from 'undici'
import { median, readConditions, report, round, table } from '../../testbed/results.ts'
import type { ServerTask } from './server.ts'

const FASTIFY = '5.12.8'
const ROUNDS = 5
const SECONDS = 2
const CONNECTIONS = 32
const BODY = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'x'.repeat(900) }],
})

interface Server {
  readonly url: string
  readonly cpuMicroseconds: () => Promise<number>
  readonly child: ChildProcess
}

async function startServer(task: ServerTask): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'server.ts'))
  child.send(task)
  const [port] = await once(child, 'message')
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    async cpuMicroseconds() {
      child.send({})
      const [used] = await once(child, 'message')
      return Number(used)
    },
  }
}

interface Sample {
  readonly requestsPerSecond: number
  readonly cpuPerRequest: number
}

async function measure(server: Server, seconds: number): Promise<Sample> {
  const pool = new Pool(server.url, { connections: CONNECTIONS, pipelining: 1 })
  const before = await server.cpuMicroseconds()
  const start = performance.now()
  let answered = 0
  async function caller(): Promise<void> {
    while (performance.now() - start < seconds * 1000) {
      const answer = await pool.request({
        path: '/v1/chat/completions',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: BODY,
      })
      await answer.body.arrayBuffer()
      if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`)
      answered += 1
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, caller))
  const elapsed = (performance.now() - start) / 1000
  const used = (await server.cpuMicroseconds()) - before
  await pool.close()
  return { requestsPerSecond: answered / elapsed, cpuPerRequest: used / answered }
}

function installFastify(folder: string): string {
  const npm = ['install', '--prefix', folder, '--no-audit', '--no-fund', `fastify@${FASTIFY}`]
  const { status, stderr } = spawnSync('npm', npm, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm install fastify: ${stderr}`)
  return pathToFileURL(join(folder, 'node_modules', 'fastify', 'fastify.js')).href
}

const folder = mkdtempSync(join(tmpdir(), 'tributary-edge-'))
const servers: Server[] = []
try {
  const fastify = installFastify(folder)
  const upstream = await startServer({ kind: 'upstream' })
  const bare = await startServer({ kind: 'bare', upstream: upstream.url })
  const framed = await startServer({ kind: 'fastify', upstream: upstream.url, fastify })
  servers.push(upstream, bare, framed)
  const contestants = [
    { name: 'node:http + find-my-way', server: bare, samples: [] as Sample[] },
    { name: `Fastify ${FASTIFY}`, server: framed, samples: [] as Sample[] },
  ]
  for (const { server } of contestants) await measure(server, 1)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { server, samples } of contestants) samples.push(await measure(server, SECONDS))
  }
  const results = contestants.map(({ name, samples }) => ({
    name,
    requestsPerSecond: Math.round(median(samples.map((one) => one.requestsPerSecond))),
    cpuPerRequest: round(median(samples.map((one) => one.cpuPerRequest))),
    samples,
  }))
  const rows = results.map(({ name, requestsPerSecond, cpuPerRequest }) => [
    name,
    requestsPerSecond,
    cpuPerRequest,
  ])
  const [one, other] = results
  const ratio = round((other?.cpuPerRequest ?? 0) / (one?.cpuPerRequest ?? 1))
  report('edge', readConditions('node benchmarks/edge/main.ts'), { results, cpuRatio: ratio }, [
    `JSON pass-through of 1 KB, ${CONNECTIONS} connections, medians of ${ROUNDS}, in turns.`,
    '',
    ...table([['', 'requests/s', 'CPU µs/request'], ...rows]),
    '',
    `Fastify takes ${ratio} times the CPU of the other.`,
  ])
} finally {
  for (const { child } of servers) child.disconnect()
  rmSync(folder, { recursive: true, force: true })
}
