/** A gateway that is killed under load: callers lose what it was answering, the books nothing. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Place } from '../../testbed/laboratory.ts'
import type { GatewayProcess } from '../../tests/support/gateway.ts'
import { until } from '../../tests/support/until.ts'
import { type Failure, startLoad } from './load.ts'

/** Streams of two seconds and tasks of five are running by then. */
const BEFORE_MS = 8_000
/** Another process closes the calls of a dead one within a minute. */
const CLOSED_MS = 90_000

export interface Killed {
  readonly calls: number
  readonly tasks: number
  readonly perSecond: number
  /** Calls that the killed gateway was answering. */
  readonly cut: number
  /** Calls that were answered whole and have no record of success. */
  readonly unrecorded: number
  /** Every other failure. */
  readonly failures: readonly Failure[]
}

/** Kills the first of `gateways` under load and starts it again. */
export async function killOne(
  url: string,
  place: Pick<Place, 'keys' | 'withDatabase'>,
  gateways: GatewayProcess[],
  start: (port: number) => Promise<GatewayProcess>,
): Promise<Killed> {
  const load = startLoad(url, place.keys[0]?.key ?? '')
  await sleep(BEFORE_MS)
  const [victim] = gateways
  if (!victim) throw new Error('there is no gateway to kill')
  const killedMs = performance.now()
  load.note('the kill of gateway 1')
  await victim.kill9()
  const deadMs = performance.now()
  gateways[0] = await start(victim.port)
  load.note('the readiness of gateway 1')
  const { answered, ...numbers } = await load.finish()
  const unrecorded = await place.withDatabase(async (sql) => {
    await until('the end of all holds', async () => (await countOpen(sql)) === 0, CLOSED_MS)
    return answered.length - (await countSucceeded(sql, answered))
  })
  const failures = load.failures.filter(
    ({ beganMs, failedMs }) => beganMs > deadMs || failedMs < killedMs,
  )
  return { ...numbers, cut: load.failures.length - failures.length, unrecorded, failures }
}

async function countOpen(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from hold where state = 'open'`
  return row?.count ?? 0
}

async function countSucceeded(sql: Sql, requestIds: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from call
    where request_id = any(${requestIds as string[]}::text[]) and status = 'succeeded'`
  return row?.count ?? 0
}
