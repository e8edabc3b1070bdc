/**
 * Calls with tokens of a directory over two gateways, while its key is rotated and one of its
 * subjects is disabled: each call is charged or refused, and the subject is out within 4 seconds.
 */
import { formatAmount } from '../server/base/lib/money.ts'
import { createSecretBox } from '../server/base/lib/secrets/secrets.ts'
import { updateSubjects } from '../server/money/accounts/tokens/subject-store.ts'
import { applyCatalog } from '../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../server/money/catalog/apply/file.ts'
import type { Laboratory } from '../testbed/laboratory.ts'
import { createTestAccount } from '../tests/support/gateway.ts'
import { startTestIssuer } from '../tests/support/servers/token-issuer.ts'
import { until } from '../tests/support/until.ts'

/** Within it, a disabled subject is refused by every gateway. */
const OUT_MS = 4_000
const SUBJECTS = ['kim', 'lee', 'leaver']

export interface TokenRace {
  readonly ok: boolean
  readonly statuses: Readonly<Record<string, number>>
  /** Of the subject that was disabled. */
  readonly lateCalls: number
  readonly line: string
}

interface Call {
  readonly subject: string
  readonly status: string
  readonly begunAtMs: number
}

/** `call` sends one call of the price with a credential and returns its status. */
export async function raceTokens(
  lab: Laboratory,
  urls: readonly string[],
  priceNanos: bigint,
  call: (url: string, credential: string) => Promise<string>,
): Promise<TokenRace> {
  const issuer = await startTestIssuer()
  const affordable = 100_000n
  const accountId = await lab.withDatabase(async (sql) => {
    const { id } = await createTestAccount(sql, formatAmount(priceNanos * affordable))
    const entry = { id: 'race', issuer: issuer.url, audience: 'tributary', account: id }
    const text = JSON.stringify({ source: 'race', token_issuers: [entry] })
    const files = [parseCatalogFile('race.json', text, {})]
    const secrets = createSecretBox(['a-secret-key-of-no-channel-in-this-file'])
    await applyCatalog({ sql, files, upstreams: {}, secrets, environment: {} })
    return id
  })
  const calls: Call[] = []
  let disabledAtMs = Number.POSITIVE_INFINITY
  let isOver = false
  const tokens = async () =>
    new Map(
      await Promise.all(SUBJECTS.map(async (sub) => [sub, await issuer.token({ sub })] as const)),
    )
  let current = await tokens()
  await Promise.all(
    urls.map((url) =>
      until('a gateway that knows the issuer', async () => {
        return (await call(url, current.get('kim') ?? '')) === '200' ? true : undefined
      }),
    ),
  )
  const early = urls.length
  const callers = urls.flatMap((url) =>
    SUBJECTS.flatMap((subject) =>
      Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const begunAtMs = performance.now()
          const status = await call(url, current.get(subject) ?? '')
          calls.push({ subject, status, begunAtMs })
        }
      }),
    ),
  )
  const after = (count: number) =>
    until(`${count} calls`, () => Promise.resolve(calls.length >= count || undefined))
  await after(500)
  await issuer.rotate({ keeps: true })
  current = await tokens()
  await after(1_000)
  await lab.withDatabase((sql) => updateSubjects(sql, { issuer: 'race', subject: 'leaver' }, true))
  disabledAtMs = performance.now()
  await until('calls after the time limit', () => {
    const late = calls.filter(({ begunAtMs }) => begunAtMs > disabledAtMs + OUT_MS)
    return Promise.resolve(late.length >= 500 || undefined)
  })
  isOver = true
  await Promise.all(callers)
  await issuer.stop()
  return await judge(lab, { accountId, calls, early, disabledAtMs, affordable, priceNanos })
}

async function judge(
  lab: Laboratory,
  run: {
    readonly accountId: string
    readonly calls: readonly Call[]
    readonly early: number
    readonly disabledAtMs: number
    readonly affordable: bigint
    readonly priceNanos: bigint
  },
): Promise<TokenRace> {
  const { accountId, calls, early, disabledAtMs, affordable, priceNanos } = run
  const statuses: Record<string, number> = {}
  for (const { status } of calls) statuses[status] = (statuses[status] ?? 0) + 1
  const passed = BigInt((statuses['200'] ?? 0) + early)
  const [row] = await lab.withDatabase(
    (sql) => sql<{ left: bigint }[]>`
      select available + held + debt as left from balance where account_id = ${accountId}`,
  )
  const spent = priceNanos * affordable - (row?.left ?? 0n)
  const isLeaver = ({ subject }: Call) => subject === 'leaver'
  const lateCalls = calls.filter(
    (one) => isLeaver(one) && one.status === '200' && one.begunAtMs > disabledAtMs + OUT_MS,
  ).length
  // A new key may be unknown for half a minute after a fetch: those calls are a 401.
  const isKnown = Object.keys(statuses).every((status) => ['200', '401', '403'].includes(status))
  const others = calls.filter((one) => !isLeaver(one) && one.status === '403').length
  const ok = spent === passed * priceNanos && lateCalls === 0 && isKnown && others === 0
  const line = [
    `two gateways, a key rotated and a subject disabled: ${JSON.stringify(statuses)}`,
    `${lateCalls} of the subject after ${OUT_MS / 1000} s`,
    spent === passed * priceNanos ? 'exact' : 'NOT EXACT',
  ].join(', ')
  return { ok, statuses, lateCalls, line }
}
