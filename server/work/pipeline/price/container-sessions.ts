/** Removes the cost of containers from a call if another call pays for their sessions. Pure. */
import type { RelayReport } from '../../../wire/dialects/relay.ts'
import type { Charge } from './charge.ts'

const NO_AMOUNT = '0'

/** Returns the report without the minutes of the containers in `paid`. */
export function withoutSessions(report: RelayReport, paid: ReadonlySet<string>): RelayReport {
  const { usage, containers = [] } = report
  const counted = usage?.container_minute
  if (counted === undefined) return report
  const minutes = containers.reduce((sum, one) => sum + (paid.has(one.id) ? one.minutes : 0), 0)
  return { ...report, usage: { ...usage, container_minute: Math.max(0, counted - minutes) } }
}

/** Returns the report without the minutes of its containers: another call may pay for them. */
export function withoutUnclaimed(report: RelayReport): RelayReport {
  return withoutSessions(report, new Set(report.containers?.map(({ id }) => id)))
}

/**
 * Adds a line of quantity 0 to a charge that has none for containers, so that the record shows that
 * the call used one. `full` is the charge with all sessions.
 */
export function showSessions<Priced extends Pick<Charge, 'lines'>>(
  charge: Priced,
  full: Pick<Charge, 'lines'>,
): Priced {
  const line = full.lines.find(({ unit, model }) => unit === UNIT && model === undefined)
  if (!line || charge.lines.some(({ unit }) => unit === UNIT)) return charge
  const listed = line.list_amount === undefined ? {} : { list_amount: NO_AMOUNT }
  const unpaid = { ...line, quantity: 0, amount: NO_AMOUNT, ...listed }
  return { ...charge, lines: [...charge.lines, unpaid] }
}

const UNIT = 'container_minute'
