/**
 * Calls with tokens of a directory and a member's key over two gateways, while the directory's key
 * is rotated, one of its subjects disabled and the member removed: each call is charged or refused,
 * and both are out within 4 seconds.
 */

import { createPasswords } from '../server/api/sign-in/password-hashes.ts'
import { changeMember, createPerson } from '../server/api/sign-in/people/people.ts'
import { putMembership } from '../server/api/sign-in/person-store.ts'
import { formatAmount } from '../server/base/lib/money.ts'
import { createSecretBox } from '../server/base/lib/secrets/secrets.ts'
import { createKey } from '../server/money/accounts/manage-keys.ts'
import { updateSubjects } from '../server/money/accounts/tokens/subject-store.ts'
import { applyCatalog } from '../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../server/money/catalog/apply/file.ts'
import type { Laboratory } from '../testbed/laboratory.ts'
import { createTestAccount } from '../tests/support/gateway.ts'
import { startTestIssuer } from '../tests/support/servers/token-issuer.ts'
import { until } from '../tests/support/until.ts'

/** Within it, a disabled subject and a removed member are refused by every gateway. */
const OUT_MS = 4_000
const SUBJECTS = ['kim', 'lee', 'leaver']
/** Calls with a key of their own instead of a token. */
const MEMBER = 'member'
const LEAVERS: ReadonlySet<string> = new Set(['leaver', MEMBER])

export interface TokenRace {
  readonly ok: boolean
  readonly statuses: Readonly<Record<string, number>>
  /** Of the subject that was disabled and of the member who was removed. */
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
  const { accountId, personId, memberKey } = await lab.withDatabase(async (sql) => {
    const { id } = await createTestAccount(sql, formatAmount(priceNanos * affordable))
    const entry = { id: 'race', issuer: issuer.url, audience: 'tributary', account: id }
    const text = JSON.stringify({ source: 'race', token_issuers: [entry] })
    const files = [parseCatalogFile('race.json', text, {})]
    const secrets = createSecretBox(['a-secret-key-of-no-channel-in-this-file'])
    await applyCatalog({ sql, files, upstreams: {}, secrets, environment: {} })
    const person = { email: 'member@example.com', name: 'Member', password: null }
    const { id: personId } = await createPerson({ sql, passwords: createPasswords() }, person)
    await putMembership(sql, { personId, accountId: id, role: 'developer' })
    const { key: memberKey } = await createKey(sql, { accountId: id, personId })
    return { accountId: id, personId, memberKey }
  })
  const calls: Call[] = []
  let disabledAtMs = Number.POSITIVE_INFINITY
  const credentials = [...SUBJECTS, MEMBER]
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
    credentials.flatMap((subject) =>
      Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const begunAtMs = performance.now()
          const status = await call(url, current.get(subject) ?? memberKey)
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
  await lab.withDatabase(async (sql) => {
    await updateSubjects(sql, { issuer: 'race', subject: 'leaver' }, true)
    await changeMember(sql, accountId, personId, 'none')
  })
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
  const isLeaver = ({ subject }: Call) => LEAVERS.has(subject)
  const lateCalls = calls.filter(
    (one) => isLeaver(one) && one.status === '200' && one.begunAtMs > disabledAtMs + OUT_MS,
  ).length
  // A new key may be unknown for half a minute after a fetch: those calls are a 401, as are those
  // with a key that has ended.
  const isKnown = Object.keys(statuses).every((status) => ['200', '401', '403'].includes(status))
  const others = calls.filter((one) => !isLeaver(one) && one.status === '403').length
  const ok = spent === passed * priceNanos && lateCalls === 0 && isKnown && others === 0
  const line = [
    `two gateways, a key rotated, a subject and a member gone: ${JSON.stringify(statuses)}`,
    `${lateCalls} of these after ${OUT_MS / 1000} s`,
    spent === passed * priceNanos ? 'exact' : 'NOT EXACT',
  ].join(', ')
  return { ok, statuses, lateCalls, line }
}
