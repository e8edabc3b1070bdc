/** The account of one scene, compared with the bills that the simulators wrote meanwhile. */
import { parseAmount } from '../../server/base/lib/money.ts'
import { priceOf } from '../../testbed/prices.ts'
import type { TestGateway, TestRecord } from '../../tests/support/in-process.ts'
import { until } from '../../tests/support/until.ts'

export const BALANCE = '100'
/** The chat model behind a channel that translates responses. */
const PRICED_AS: Readonly<Record<string, string>> = {
  translated: 'sim-chat',
  'claude-bedrock': 'sim-chat',
  'claude-vertex': 'sim-chat',
}

export interface Account {
  readonly key: string
  readonly accountId: string
  readonly model: string
  /** The opening balance. */
  readonly balance: string
  /** The last entry of the simulators' book before the scene. */
  readonly since: number
  /** One stream broke off: its record is an estimate. */
  readonly breaks?: boolean | undefined
  /** The minimum number of records. */
  readonly recordsMin: number
  /** Conditions of the prices, for example the resolution of a video. */
  readonly conditions?: Readonly<Record<string, unknown>> | undefined
}

export interface Compared {
  /** Usage records: one for every request of the client. */
  readonly records: number
  readonly chargedNanos: string
  readonly bookedNanos: string
  readonly breaks: readonly string[]
}

/** Requires that every finished record equals one bill; only a broken stream may be estimated. */
export async function compareAccount(gateway: TestGateway, account: Account): Promise<Compared> {
  const { key, accountId, model, since, breaks: hasBroken = false, conditions } = account
  const openingNanos = parseAmount(account.balance) ?? 0n
  const { available, debt } = await until('the holds to be settled', async () => {
    const balance = await gateway.balance(accountId)
    return balance.held === 0n ? balance : undefined
  })
  const charged = openingNanos - available + debt
  const entries = gateway.simulators.book.entries({ since }).filter((entry) => entry.billed)
  const bills = entries.map(({ units }) => priceOf(PRICED_AS[model] ?? model, units, conditions))
  const booked = bills.reduce((sum, bill) => sum + bill, 0n)
  const records: TestRecord[] = (await gateway.get('/v1/usage?limit=100', key)).json.data
  const breaks: string[] = []
  for (const record of records.filter(isKnown)) {
    const at = bills.indexOf(parseAmount(record.charged) ?? -1n)
    if (at < 0 || record.basis !== 'usage') breaks.push(`no bill of ${record.charged}`)
    else bills.splice(at, 1)
  }
  const died = hasBroken ? 1 : 0
  if (bills.length !== died) breaks.push(`${bills.length} bills are without a finished record`)
  if (records.length !== entries.length) {
    breaks.push(`${records.length} records, ${entries.length} bills`)
  }
  if (!hasBroken && charged !== booked) breaks.push(`charged ${charged}, billed ${booked}`)
  if (records.length < account.recordsMin) breaks.push(`${records.length} records only`)
  return {
    records: records.length,
    chargedNanos: String(charged),
    bookedNanos: String(booked),
    breaks,
  }
}

/**
 * False for a stream that died: what it had stated by then, if anything, may be less than the bill.
 * A stream whose reader has left is read to its end.
 */
const isKnown = ({ status, basis }: TestRecord) =>
  status === 'succeeded' || (status === 'cancelled' && basis === 'usage')

/** True if a request since this call carried the picture of the scenes. */
export function sawPicture({ simulators }: TestGateway, since: number): boolean {
  return simulators.calls
    .list(since)
    .some((call) => Buffer.from(call.body_base64, 'base64').includes('iVBORw0KGgo'))
}
