/** A connection to several workers outlives the worker that it was meant for. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type GatewayProcess, type Stage, startGateway, startStage } from '../../support/gateway.ts'
import { until, within } from '../../support/until.ts'

const ENV = { WORKERS: '2', LOG_LEVEL: 'info', LOG_FORMAT: 'json' }

/** Process ids of the workers, once two are there. */
function untilWorkers(gateway: GatewayProcess): Promise<number[]> {
  const read = () => {
    const lines = gateway.log().split('\n').slice(0, -1)
    const starts = lines.filter((line) => line.includes('"msg":"listening"'))
    const pids = starts.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1]))
    return pids.length === 2 && pids
  }
  return until('two workers', read)
}

interface OpenCall {
  /** Resolves once the kernel has accepted the connection and has the request. */
  readonly sent: Promise<void>
  /** The first line of the answer, or the error; undefined while there is none. */
  answer(): string | undefined
}

function openCall({ gateway, key }: Stage): OpenCall {
  const body = JSON.stringify({ model: 'sim-chat', messages: [{ role: 'user', content: 'hi' }] })
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: a',
    `authorization: Bearer ${key.key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  let text = ''
  let end: string | undefined
  const socket = connect(gateway.port, '127.0.0.1')
  const sent = new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => resolve())
  })
  sent.catch(() => undefined)
  socket.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  socket.on('error', ({ message }) => {
    end ??= message
  })
  socket.on('close', () => {
    end ??= text.split('\r\n')[0]
  })
  return { sent, answer: () => end }
}

const SERVED = 'HTTP/1.1 200 OK'

test('connections that wait when the gateway is stopped are served', async () => {
  const stage = await startStage({ env: ENV })
  try {
    const workers = await untilWorkers(stage.gateway)
    for (const pid of workers) process.kill(pid, 'SIGSTOP')
    const calls = Array.from({ length: 40 }, () => openCall(stage))
    await Promise.all(calls.map(({ sent }) => sent))
    stage.gateway.signal('SIGTERM')
    for (const pid of workers) process.kill(pid, 'SIGCONT')
    assert.deepEqual(await stage.gateway.exited, { code: 0, signal: null })
    const answers = await until('the ends of the calls', () => {
      const ends = calls.map(({ answer }) => answer())
      return !ends.includes(undefined) && ends
    })
    assert.deepEqual(answers, Array(40).fill(SERVED))
  } finally {
    await stage.stop()
  }
})

test('a connection on its way to a worker that is killed is served by another', async () => {
  const stage = await startStage({ env: ENV })
  try {
    const [victim = 0] = await untilWorkers(stage.gateway)
    process.kill(victim, 'SIGSTOP')
    const calls = Array.from({ length: 8 }, () => openCall(stage))
    const served = () => calls.filter(({ answer }) => answer() === SERVED).length
    await until('the calls of the other worker', () => served() === 7)
    process.kill(victim, 'SIGKILL')
    await until('the last call', () => served() === 8)
  } finally {
    await stage.stop()
  }
})

test('the workers of a supervisor that is killed end, and the next start takes over', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-workers-'))
  const stage = await startStage({ env: ENV })
  try {
    const workers = await untilWorkers(stage.gateway)
    await stage.gateway.kill9()
    await until('the end of the workers', () => !workers.some(isAlive))
    const next = await startGateway({ ...stage.place, dataDir, port: stage.gateway.port })
    assert.equal((await stage.get('/v1/models')).status, 200)
    assert.deepEqual(await next.stop(), { code: 0, signal: null })
  } finally {
    await stage.stop()
    rmSync(dataDir, { recursive: true })
  }
})

test('a worker that is starting when the gateway is stopped ends, too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-workers-'))
  const gate = join(folder, 'gate')
  const waits = `
    import cluster from 'node:cluster'
    import { stat, writeFile } from 'node:fs/promises'
    if (cluster.worker?.id === 2) {
      await writeFile('${gate}-here', '')
      while (!(await stat('${gate}').catch(() => false)));
    }`
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(waits)}`
  const stage = await startStage({ env: { ...ENV, NODE_OPTIONS } })
  try {
    await until('the second', () => existsSync(`${gate}-here`))
    stage.gateway.signal('SIGTERM')
    await until('the stop of the first', () => stage.gateway.log().includes('"msg":"stopping"'))
    writeFileSync(gate, '')
    const exit = await within(60_000, 'end of the gateway', stage.gateway.exited)
    assert.deepEqual(exit, { code: 0, signal: null })
  } finally {
    await stage.stop()
    rmSync(folder, { recursive: true })
  }
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
