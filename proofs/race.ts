/**
 * Proves that a balance for exactly N calls lets exactly N of 2,000 concurrent ones pass, through
 * one gateway and through two, and that tokens of a directory stop in time.
 * `npm run prove:race -- [--repeats 50] [--calls 2000] [--seed N]`.
 */

import { Agent } from 'undici'
import { formatAmount } from '../server/base/lib/money.ts'
import { createKey } from '../server/money/accounts/manage-keys.ts'
import { audit } from '../server/money/ledger/audit/audit.ts'
import { type Laboratory, openLaboratory } from '../testbed/laboratory.ts'
import { POSTGRES_OPTION, readOptions } from '../testbed/options.ts'
import { priceOf } from '../testbed/prices.ts'
import { createRandom } from '../testbed/random.ts'
import { median, readConditions, report } from '../testbed/results.ts'
import { createTestAccount } from '../tests/support/gateway.ts'
import { raceTokens, type TokenRace } from './race-tokens.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  repeats: { type: 'string', default: '50' },
  calls: { type: 'string', default: '2000' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
})
const repeats = Number(values.repeats)
const calls = Number(values.calls)
const seed = Number(values.seed)
const MODEL = 'vendor-web-search'
const PRICE_NANOS = priceOf(MODEL, { call: 1 })

interface Race {
  readonly gateways: number
  readonly affordable: number
  readonly passed: number
  readonly refused: number
  readonly other: Readonly<Record<string, number>>
  readonly leftNanos: bigint
  readonly milliseconds: number
}

const random = createRandom(seed)
const conditions = readConditions(
  `npm run prove:race -- --repeats ${repeats} --calls ${calls} --seed ${seed}`,
  values.postgres,
)
const laboratory = await openLaboratory({
  shared: true,
  simulatorArguments: ['--fast'],
  postgres: values.postgres,
})
const races: Race[] = []
let audited = false
const LOOPBACK = { ALLOW_PRIVATE_TARGETS: '1' }
const gateways = [await laboratory.startGateway(LOOPBACK), await laboratory.startGateway(LOOPBACK)]
let tokens: TokenRace | undefined
const agent = new Agent({ connections: calls, pipelining: 1, headersTimeout: 60_000 })
try {
  for (const count of [1, 2]) {
    const urls = gateways.slice(0, count).map(({ url }) => url)
    for (let repeat = 1; repeat <= repeats; repeat += 1) {
      const race = await runRace(laboratory, urls, random.integer(1, calls - 1))
      races.push(race)
      console.log(describeRace(race))
    }
  }
  const both = gateways.map(({ url }) => url)
  tokens = await raceTokens(laboratory, both, PRICE_NANOS, call)
  console.log(tokens.line)
  audited = (await laboratory.withDatabase((sql) => audit(sql))).ok
} finally {
  await agent.destroy()
  await Promise.all(gateways.map((gateway) => gateway.stop()))
  await laboratory.close()
}
finish()

async function runRace(lab: Laboratory, urls: readonly string[], affordable: number) {
  const balance = formatAmount(PRICE_NANOS * BigInt(affordable))
  const { account, key } = await lab.withDatabase(async (sql) => {
    const account = await createTestAccount(sql, balance)
    return { account, key: await createKey(sql, { accountId: account.id }) }
  })
  const start = performance.now()
  const statuses = await Promise.all(
    Array.from({ length: calls }, (_, index) => call(urls[index % urls.length] ?? '', key.key)),
  )
  const milliseconds = performance.now() - start
  const remainingNanos = await lab.withDatabase(async (sql) => {
    const [row] = await sql<{ remaining: bigint }[]>`
      select available + held + debt as remaining from balance where account_id = ${account.id}`
    return row?.remaining ?? -1n
  })
  const count = (isCounted: (status: string) => boolean) => statuses.filter(isCounted).length
  const other: Record<string, number> = {}
  for (const status of statuses) {
    if (status !== '200' && status !== '402') other[status] = (other[status] ?? 0) + 1
  }
  return {
    gateways: urls.length,
    affordable,
    other,
    leftNanos: remainingNanos,
    milliseconds,
    passed: count((status) => status === '200'),
    refused: count((status) => status === '402'),
  }
}

async function call(url: string, key: string): Promise<string> {
  try {
    const answer = await agent.request({
      origin: url,
      path: '/v1/search',
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"Type":"web","Query":"rivers","Count":1}',
    })
    await answer.body.dump()
    return String(answer.statusCode)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function isExact(race: Race): boolean {
  const { affordable, passed, refused, leftNanos } = race
  return passed === affordable && refused === calls - affordable && leftNanos === 0n
}

function describeRace(race: Race): string {
  const { gateways, affordable, passed, refused, other, milliseconds, leftNanos } = race
  const rest = Object.keys(other).length === 0 ? '' : ` other ${JSON.stringify(other)}`
  const text = `${gateways}: enough for ${affordable}, ${passed} passed, ${refused} refused`
  const verdict = isExact(race) ? 'exact' : `NOT EXACT, ${leftNanos} nanos left`
  return `${text}${rest} in ${Math.round(milliseconds)} ms: ${verdict}`
}

function finish(): void {
  const exact = races.filter(isExact).length
  const isExactInAll = exact === races.length && races.length === 2 * repeats
  const ok = isExactInAll && audited && tokens?.ok === true
  const perSecond = Math.round((calls * 1000) / median(races.map((race) => race.milliseconds)))
  const lines = [1, 2].map((count) => {
    const group = races.filter((race) => race.gateways === count)
    const good = group.filter(isExact).length
    const name = count === 1 ? 'one gateway' : 'two gateways on one PostgreSQL'
    return `${name}: ${good} of ${group.length} races exact, ${calls} concurrent calls each`
  })
  const verdicts = [`audit ${audited ? 'clean' : 'NOT CLEAN'}`, ok ? 'PASSED' : 'FAILED']
  const failed = races.filter((race) => !isExact(race)).map(describeRace)
  report(
    'prove-race',
    conditions,
    { ok, seed, repeats, calls, exact, audited, perSecond, failed, tokens },
    [...lines, tokens?.line ?? '', ...failed, ...verdicts],
  )
  if (!ok) process.exitCode = 1
}
