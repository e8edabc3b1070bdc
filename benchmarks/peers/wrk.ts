/** Runs wrk, the load generator, and parses its output. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '../../tests/support/processes.ts'
import { agentRequest } from './agent-request.ts'
import { OTHER_CORE, type Peer } from './start-peers.ts'

export interface WrkRun {
  readonly requests: number
  readonly perSecond: number
  /** Responses other than 2xx, and socket errors. */
  readonly errors: number
  readonly p99Ms: number
}

export interface WrkOptions {
  readonly stream: boolean
  readonly connections: number
  readonly seconds: number
  readonly kilobytes?: number
  /** Keys or tokens, of which each call takes the next one; the peer's own by default. */
  readonly credentials?: readonly string[]
}

export const PATH = '/v1/chat/completions'
const WORDS = 'Tell me all about it, please. '.repeat(30)

/** Returns a request body of about 1 KB, or an agent's of so many kilobytes. */
export function requestBody(stream: boolean, kilobytes = 1): string {
  if (kilobytes > 1) return agentRequest(kilobytes, stream)
  const messages = [{ role: 'user', content: WORDS }]
  return JSON.stringify({
    model: 'sim-chat',
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    max_tokens: 200,
    messages,
  })
}

/** Throws if wrk is not installed or its output cannot be parsed. */
export async function runWrk(peer: Peer, options: WrkOptions): Promise<WrkRun> {
  const folder = mkdtempSync(join(tmpdir(), 'benchmark-wrk-'))
  const script = join(folder, 'post.lua')
  const body = join(folder, 'body.json')
  writeFileSync(body, requestBody(options.stream, options.kilobytes))
  const credentials = join(folder, 'credentials')
  if (options.credentials) writeFileSync(credentials, options.credentials.join('\n'))
  const headers = Object.entries({ 'content-type': 'application/json', ...peer.headers })
  writeFileSync(
    script,
    [
      'wrk.method = "POST"',
      `wrk.body = io.open("${body}"):read("*a")`,
      ...headers.map(([name, value]) => `wrk.headers["${name}"] = "${value}"`),
      ...(options.credentials ? rotate(credentials) : []),
    ].join('\n'),
  )
  const child = await startProcess([
    'taskset',
    '-c',
    String(OTHER_CORE),
    'wrk',
    '-t1',
    `-c${options.connections}`,
    `-d${options.seconds}s`,
    '--latency',
    '--timeout',
    '30s',
    '-s',
    script,
    `${peer.url}${PATH}`,
  ])
  await child.exited
  rmSync(folder, { recursive: true, force: true })
  return readOutput(child.log())
}

/** Returns the lines of a script whose calls take the lines of a file in turn. */
function rotate(file: string): string[] {
  return [
    'local bearers, at = {}, 0',
    `for line in io.lines("${file}") do bearers[#bearers + 1] = "Bearer " .. line end`,
    'request = function()',
    '  at = at % #bearers + 1',
    '  wrk.headers["authorization"] = bearers[at]',
    '  return wrk.format()',
    'end',
  ]
}

function readOutput(text: string): WrkRun {
  const requests = /(\d+) requests in/.exec(text)?.[1]
  const perSecond = /Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]
  if (requests === undefined || perSecond === undefined) throw new Error(`wrk said: ${text}`)
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0)
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)
  const sockets = (broken?.slice(1) ?? []).reduce((sum, count) => sum + Number(count), 0)
  const [, p99 = '0', unit = 'ms'] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? []
  const p99Ms = Number(p99) * (unit === 's' ? 1_000 : unit === 'us' ? 0.001 : 1)
  return {
    requests: Number(requests),
    perSecond: Number(perSecond),
    errors: refused + sockets,
    p99Ms,
  }
}
