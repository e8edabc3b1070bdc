/**
 * Measures what a call costs with a token of a directory in place of an API key, in turns on one
 * gateway: `npm run bench -- tokens [--rounds 5] [--seconds 4]`. A token is checked at its first
 * call and kept by its digest, so first calls are measured apart from those that follow.
 */
import { readOptions } from '../../testbed/options.ts'
import { median, readConditions, report, round, table } from '../../testbed/results.ts'
import { applyObject } from '../../tests/support/gateway.ts'
import { startTestIssuer } from '../../tests/support/servers/token-issuer.ts'
import { until } from '../../tests/support/until.ts'
import { type CallCosts, measureCalls } from '../peers/measure-calls.ts'
import { startTributary, startUpstream } from '../peers/start-peers.ts'
import { PATH, requestBody } from '../peers/wrk.ts'

const values = readOptions(import.meta.filename, {
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '4' },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
/** Fewer calls, since each of them uses a token that was signed before the run. */
const firstSeconds = Math.max(1, Math.round(seconds / 2))
const CONNECTIONS = 32
const CALLERS = 1_000
const WARM_UP_SECONDS = 2
/** Tokens that are signed at once. */
const BATCH = 500
/** New tokens of a run, as a multiple of the calls at the rate of the run before. */
const SPARE = 2

/** Calls of one kind, and the credentials of a run of them. */
interface Way {
  readonly name: string
  /** True if each call is the first one of its token. */
  readonly isFirst?: boolean
  /** Makes the keys or tokens of a run. */
  credentials(count: number): Promise<readonly string[]>
}

interface Run extends CallCosts {
  /** Calls that used a token again because the new ones did not suffice. */
  readonly repeated: number
}

interface Group {
  readonly name: string
  readonly seconds: number
  /** The first one is what the others are compared with. */
  readonly ways: readonly Way[]
}

const conditions = readConditions(`npm run bench -- tokens --rounds ${rounds} --seconds ${seconds}`)
const upstream = await startUpstream()
const env = { ALLOW_PRIVATE_TARGETS: '1' }
const peer = await startTributary(upstream.url, { keys: CALLERS, env })
const issuers = {
  RS256: await startTestIssuer('RS256'),
  ES256: await startTestIssuer('ES256'),
} as const
type Algorithm = keyof typeof issuers
const lines: string[] = []
const result: Record<string, object> = {}
try {
  await trust()
  const length = {
    key: peer.place.keys[0]?.key.length,
    RS256: (await sign('RS256', 0)).length,
    ES256: (await sign('ES256', 0)).length,
  }
  for (const group of groups()) await compare(group)
  lines.push(
    `A key has ${length.key} characters, a token ${length.RS256} with RS256 and ${length.ES256}`,
    `with ES256. One account, ${CONNECTIONS} connections, ${rounds} rounds in turns, of`,
    `${seconds} s and, of first calls, ${firstSeconds} s. The gateway on one core; its database,`,
    "the upstream and the load on the other. Ratios are medians of each round's token / key; CPU",
    'is user and system time of a call.',
  )
  report('tokens', conditions, { rounds, seconds, length, ...result }, lines)
} finally {
  await peer.stop()
  await Promise.all([upstream.stop(2_000), issuers.RS256.stop(), issuers.ES256.stop()])
}

/** Two issuers that name an account alone, and one with tags and end users besides. */
async function trust(): Promise<void> {
  const [account] = peer.place.accountIds
  const entries = Object.entries(issuers).map(([id, { url }]) => ({
    id,
    issuer: url,
    audience: 'tributary',
    algorithms: [id],
    account,
  }))
  const labels = { tags: { claim: 'groups' }, end_user: { claim: 'sub' } }
  const labelled = { ...entries[0], id: 'labelled', audience: 'labelled', ...labels }
  const catalog = { token_issuers: [...entries, labelled] }
  await peer.place.withDatabase((sql) => applyObject(sql, 'issuers', catalog))
  const tokens = [await sign('RS256', 0), await sign('ES256', 0), await signLabelled()]
  for (const token of tokens) {
    await until('a token that is taken', async () => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const body = requestBody(false)
      const answer = await fetch(peer.url + PATH, { method: 'POST', headers, body })
      await answer.arrayBuffer()
      return answer.ok || undefined
    })
  }
}

function sign(algorithm: Algorithm, caller: number, claims: object = {}): Promise<string> {
  return issuers[algorithm].token({
    sub: `00u1a2b3c4d5e6f7${caller}`,
    jti: crypto.randomUUID(),
    email: `engineer-${caller}@company.example`,
    name: `Engineer ${caller}`,
    groups: ['engineering', 'platform'],
    scope: 'gateway',
    client_id: '0oa1b2c3d4e5f6g7h8i9',
    ...claims,
  })
}

function signLabelled(): Promise<string> {
  return sign('RS256', 0, { aud: 'labelled' })
}

/** Returns so many new tokens of all callers in turn. */
async function signMany(algorithm: Algorithm, count: number): Promise<string[]> {
  const tokens: string[] = []
  while (tokens.length < count) {
    const batch = Array.from({ length: BATCH }, (_, at) =>
      sign(algorithm, (tokens.length + at) % CALLERS),
    )
    tokens.push(...(await Promise.all(batch)))
  }
  return tokens
}

function groups(): Group[] {
  const keys = peer.place.keys.map(({ key }) => key)
  return [
    {
      name: 'one caller',
      seconds,
      ways: [
        kept('a key', async () => keys.slice(0, 1)),
        kept('a token, RS256', async () => [await sign('RS256', 0)]),
        kept('a token, ES256', async () => [await sign('ES256', 0)]),
        kept('RS256 with two tags and an end user', async () => [await signLabelled()]),
      ],
    },
    {
      name: `${CALLERS} callers`,
      seconds,
      ways: [
        kept('a key each', async () => keys),
        kept('a token each, RS256', () => signMany('RS256', CALLERS)),
      ],
    },
    {
      name: 'first calls',
      seconds: firstSeconds,
      ways: [
        kept('a known key each', async () => keys),
        fresh('a new token for each call, RS256', 'RS256'),
        fresh('a new token for each call, ES256', 'ES256'),
      ],
    },
  ]
}

/** Returns a way whose runs share their credentials. */
function kept(name: string, make: () => Promise<readonly string[]>): Way {
  let made: Promise<readonly string[]> | undefined
  return {
    name,
    credentials() {
      made ??= make()
      return made
    },
  }
}

/** Returns a way whose calls each have a token of their own. */
function fresh(name: string, algorithm: Algorithm): Way {
  return { name, isFirst: true, credentials: (count) => signMany(algorithm, count) }
}

/** Runs the ways of a group in turns, every other round backwards. */
async function compare({ name, seconds: duration, ways }: Group): Promise<void> {
  const runs = ways.map(() => [] as Run[])
  const warm: Run[] = []
  for (const way of ways) warm.push(await measure(way, WARM_UP_SECONDS, 2_000))
  for (let turn = 0; turn < rounds; turn += 1) {
    const order = [...ways.keys()]
    for (const at of turn % 2 === 0 ? order : order.reverse()) {
      const way = ways[at]
      const rate = (runs[at]?.at(-1) ?? warm[at])?.perSecond ?? 0
      if (way) runs[at]?.push(await measure(way, duration, rate))
    }
    console.log(`${name}: ${runs.map((one) => Math.round(one.at(-1)?.perSecond ?? 0)).join(', ')}`)
  }
  const rows = ways.map((way, at) => summarize(way, runs[at] ?? [], runs[0] ?? []))
  result[name] = rows
  lines.push(
    ...table([
      [name, 'calls/s', '', 'µs of CPU', '', 'database µs', '', 'errors'],
      ...rows.map(({ name: way, errors, repeated, ...figures }) => [
        repeated > 0 ? `${way}, but for ${repeated}` : way,
        ...[figures.perSecond, figures.gatewayMicroseconds, figures.databaseMicroseconds].flatMap(
          (figure) => [Math.round(figure.median), `${round(figure.ratio)}×`],
        ),
        errors,
      ]),
    ]),
    '',
  )
}

async function measure(way: Way, duration: number, rate: number): Promise<Run> {
  const credentials = await way.credentials(Math.ceil(rate * duration * SPARE))
  const options = { stream: false, connections: CONNECTIONS, seconds: duration, credentials }
  const costs = await measureCalls(peer, options)
  const sent = costs.requests + CONNECTIONS
  const repeated = way.isFirst ? Math.max(0, sent - credentials.length) : 0
  return { ...costs, repeated }
}

function summarize({ name }: Way, runs: readonly Run[], keys: readonly Run[]) {
  const figure = (of: 'perSecond' | 'gatewayMicroseconds' | 'databaseMicroseconds') => ({
    median: median(runs.map((run) => run[of])),
    ratio: median(runs.map((run, turn) => run[of] / (keys[turn]?.[of] ?? 0))),
  })
  return {
    name,
    perSecond: figure('perSecond'),
    gatewayMicroseconds: figure('gatewayMicroseconds'),
    databaseMicroseconds: figure('databaseMicroseconds'),
    errors: runs.reduce((sum, run) => sum + run.errors, 0),
    repeated: runs.reduce((sum, run) => sum + run.repeated, 0),
  }
}
