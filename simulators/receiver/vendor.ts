// A receiver of webhooks that misbehaves as its URL commands, below `/receiver`:
// `/receiver/orders?sim=status=500;times=2&secret=whsec_…`.
import { gzipSync } from 'node:zlib'
import {
  type Exchange,
  type Failure,
  type Reply,
  type Route,
  type Vendor,
  type WholeReply,
  whole,
} from '../kernel/exchange.ts'
import type { ScenarioName } from '../kernel/scenario.ts'
import { isSigned, ReceiverLog } from './log.ts'

const SCENARIOS: ScenarioName[] = [
  { name: 'redirect', takes: 'text', description: 'the receiver answers 307 to this URL' },
  {
    name: 'body-bytes',
    takes: 'number',
    description: "the receiver's answer has a body of N bytes",
  },
  {
    name: 'gzip-bomb',
    takes: 'number',
    description: "the receiver's answer unpacks to N megabytes",
  },
]
const MEGABYTE = 1024 * 1024

export function receiver(): Vendor {
  const log = new ReceiverLog()
  const notFound = () => whole(404, { error: 'POST to a path of one segment' })
  return {
    name: 'receiver',
    prefix: '/receiver',
    requestIdHeader: 'x-received-id',
    scenarios: SCENARIOS,
    routes: routesOf(log),
    authenticate: () => undefined,
    command,
    failure: (exchange, failure) => {
      keep(log, exchange)
      return failed(failure)
    },
    malformed: () => whole(400, { error: 'the body is not JSON' }, { reason: 'not JSON' }),
    notFound,
  }
}

/** Counts `times` separately for each path. */
function command(exchange: Exchange): { scenario: string; marker: string } | undefined {
  const scenario = new URLSearchParams(exchange.query).get('sim')
  return scenario === null ? undefined : { scenario, marker: exchange.path }
}

function failed({ status, retryAfterSeconds }: Failure): WholeReply {
  const wait = retryAfterSeconds
  const headers: Record<string, string> = wait === undefined ? {} : { 'retry-after': String(wait) }
  return whole(status, { received: false }, { headers })
}

function routesOf(log: ReceiverLog): Route[] {
  const entries = (exchange: Exchange): Reply => {
    const query = new URLSearchParams(exchange.query)
    return whole(200, { entries: log.list(query.get('path'), Number(query.get('since') ?? 0)) })
  }
  const clear = (): Reply => {
    log.clear()
    return whole(200, { cleared: true })
  }
  const receive = (exchange: Exchange): Reply => {
    const signed = keep(log, exchange)
    if (signed === false) return whole(401, { error: 'the signature is wrong' })
    return answerOf(exchange)
  }
  return [
    { method: 'GET', path: '/log', operation: 'receiver.log', handle: entries },
    { method: 'DELETE', path: '/log', operation: 'receiver.log', handle: clear },
    { method: 'POST', path: '/{name}', operation: 'receiver.receive', handle: receive },
  ]
}

function keep(log: ReceiverLog, exchange: Exchange): boolean | undefined {
  const { path, query, body, scenario } = exchange
  const { headers } = exchange.request
  const secret = new URLSearchParams(query).get('secret')
  const signed = secret === null ? undefined : isSigned(headers, body, secret)
  log.add({ path, headers, body: body.toString(), scenario: scenario.names().join(';'), signed })
  return signed
}

function answerOf({ scenario }: Exchange): Reply {
  const location = scenario.text('redirect')
  if (location !== undefined) return whole(307, {}, { headers: { location } })
  const megabytes = scenario.number('gzip-bomb')
  if (megabytes !== undefined) {
    const body = gzipSync(Buffer.alloc(megabytes * MEGABYTE))
    return { kind: 'whole', status: 200, body, headers: { 'content-encoding': 'gzip' } }
  }
  const bytes = scenario.number('body-bytes')
  if (bytes === undefined) return whole(200, { received: true })
  return { kind: 'whole', status: 200, body: Buffer.alloc(bytes, 'x') }
}
