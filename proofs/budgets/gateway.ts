/**
 * One gateway of the proof: a process with the ledger, its lease and its sweeper, that takes and
 * settles holds as its rounds order them. It may be killed at any time.
 */
import { connect } from '../../server/base/database/connection/client.ts'
import { isUnavailable } from '../../server/base/database/unavailable.ts'
import { GatewayError } from '../../server/base/lib/errors.ts'
import { newId, newRequestId } from '../../server/base/lib/ids.ts'
import type { Quantities } from '../../server/base/lib/units.ts'
import { startSweeper } from '../../server/money/ledger/leases/sweeper.ts'
import { createLedger, type HoldResult } from '../../server/money/ledger/ledger.ts'
import type { HoldRequest } from '../../server/money/ledger/requests.ts'
import { createRandom, type Random } from '../../testbed/random.ts'
import type { Order, ProofCaller, RoundEnd } from './orders.ts'

const [, , databaseUrl = ''] = process.argv
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }
const sql = connect({ url: databaseUrl })
const ownerId = newId('own')
const leases = { renewMs: 400, leaseSeconds: 2, isolatedMs: 300_000 }
await startSweeper({ sql, ownerId, address: '', exclusive: false, ...leases, log: quiet })
const ledger = createLedger({ sql, ownerId, isUnavailable, log: quiet })

const AT_ONCE = 12
const BUSY = 'busy'
const USERS = ['u1', 'u2', 'u3', 'u4', 'u5', undefined] as const
const MODELS = ['a', 'b', 'c'] as const

process.on('message', (order: Order) => {
  runRound(order).then(
    (end) => process.send?.(end),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })

async function runRound({ seed, calls, callers, race }: Order): Promise<RoundEnd> {
  const random = createRandom(seed)
  const end = { held: 0, refused: 0, raced: 0, other: [] as string[] }
  let left = calls
  async function work(): Promise<void> {
    while (left > 0) {
      left -= 1
      const caller = random.pick(callers)
      const outcome = await call(random, caller)
      if (outcome === 'held') end.held += 1
      else if (outcome.startsWith('budget:')) end.refused += 1
      else if (outcome !== BUSY) end.other.push(outcome)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const raced = await Promise.all(Array.from({ length: race.calls }, () => runRacer(race.caller)))
  end.raced = raced.filter((outcome) => outcome === 'held').length
  end.other.push(...raced.filter((outcome) => !/^held$|^budget:|^busy$/.test(outcome)))
  await ledger.flushed()
  return end
}

/** A caller whose hold waits too long is told to retry, and holds nothing. */
async function hold(asked: HoldRequest): Promise<HoldResult | { readonly refused: typeof BUSY }> {
  try {
    return await ledger.hold(asked)
  } catch (error) {
    if (error instanceof GatewayError && error.row === 'unavailable') return { refused: BUSY }
    throw error
  }
}

type Estimates = [Quantities, ...Quantities[]]

function request(caller: ProofCaller, random: Random) {
  const user = random.pick(USERS)
  const tag = random.pick(['red', 'blue'])
  return {
    requestId: newRequestId(),
    accountId: caller.accountId,
    keyId: caller.keyId,
    endpoint: 'proof',
    model: random.pick(MODELS),
    priceVersion: null,
    amountNanos: BigInt(random.integer(0, 100)),
    estimate: random.pick([
      { input_token: random.integer(1, 50), output_token: random.integer(0, 80) },
      { input_token: random.integer(1, 50), output_token: random.integer(0, 80) },
      { input_token: random.integer(1, 50), second: 3 },
      { call: 1 },
    ] as Estimates),
    labels: { tags: ['always', tag], ...(user === undefined ? {} : { end_user: user }) },
    spendLimitNanos: null,
    idempotency:
      random.next() < 0.2
        ? { key: newRequestId(), route: 'proof', fingerprint: Buffer.from('00', 'hex') }
        : null,
  }
}

async function call(random: Random, caller: ProofCaller): Promise<string> {
  const asked = request(caller, random)
  const taken = await hold(asked)
  if ('refused' in taken) return taken.refused
  const factor = random.pick([0.2, 0.9, 1, 1.7])
  const scale = (quantity: number) => Math.round(quantity * factor)
  const { input_token: input = 0, output_token: output = 0 } = asked.estimate
  const lines = [
    { unit: 'input_token', quantity: scale(input) },
    { unit: 'output_token', quantity: scale(output) },
  ]
  const chargeNanos = BigInt(scale(Number(asked.amountNanos)))
  if (random.next() < 0.3) ledger.watch(taken.hold, () => ({ chargeNanos, lines }))
  await new Promise((resolve) => setTimeout(resolve, random.integer(0, 400)))
  const isReleased = random.next() < 0.15
  await ledger.settle(taken.hold, {
    chargeNanos: isReleased ? null : chargeNanos,
    status: isReleased ? 'failed' : 'succeeded',
    basis: isReleased ? 'none' : 'usage',
    lines: isReleased || random.next() < 0.1 ? [] : lines,
    attempts: [],
  })
  return 'held'
}

/** Takes and keeps a unit of a budget that all gateways race for. */
async function runRacer(caller: ProofCaller): Promise<string> {
  const taken = await hold({
    requestId: newRequestId(),
    ...caller,
    endpoint: 'race',
    model: 'a',
    priceVersion: null,
    amountNanos: 1n,
    estimate: {},
    spendLimitNanos: null,
    idempotency: null,
  })
  if ('refused' in taken) return taken.refused
  await ledger.settle(taken.hold, {
    chargeNanos: 1n,
    status: 'succeeded',
    basis: 'usage',
    lines: [],
    attempts: [],
  })
  return 'held'
}
