/**
 * Proves that callers who disconnect neither get output for free nor pay for more than was
 * generated. `npm run prove:disconnect -- [--streams 1000] [--seed N]` cuts chat and speech streams
 * before the first byte, at the head, at random points, and just before the frame that states the
 * usage.
 */

import { connect } from 'node:net'
import { formatAmount } from '../server/base/lib/money.ts'
import type { CreatedKey } from '../server/money/accounts/manage-keys.ts'
import { audit } from '../server/money/ledger/audit/audit.ts'
import { compareBooks, readClock, readLedger, type Verdict } from '../testbed/books.ts'
import {
  type CallKind,
  describeCall,
  type FinishedCall,
  type PlannedCall,
} from '../testbed/calls.ts'
import { waitForHolds } from '../testbed/holds.ts'
import { openLaboratory } from '../testbed/laboratory.ts'
import { POSTGRES_OPTION, readOptions } from '../testbed/options.ts'
import { createRandom } from '../testbed/random.ts'
import { readConditions, report, table } from '../testbed/results.ts'
import { rawRequest } from '../tests/support/raw.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  streams: { type: 'string', default: '1000' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
})
const streams = Number(values.streams)
const seed = Number(values.seed)
const CONCURRENT = 50
const LEAVE_MS_MAX = 150
const CUTS = ['before the first byte', 'at the head', 'somewhere', 'before the usage'] as const
type Cut = (typeof CUTS)[number]

interface CutCall extends FinishedCall {
  readonly cut: Cut
}

const random = createRandom(seed)
const conditions = readConditions(
  `npm run prove:disconnect -- --streams ${streams} --seed ${seed}`,
  values.postgres,
)
const laboratory = await openLaboratory({
  accounts: 4,
  keys: streams,
  postgres: values.postgres,
})
const gateway = await laboratory.startGateway()
try {
  await prove()
} finally {
  await gateway.stop()
  await laboratory.close()
}

async function prove(): Promise<void> {
  const since = await laboratory.withDatabase(readClock)
  const calls = await cutAll()
  const book = await laboratory.simulators.readBook()
  await laboratory.withDatabase(async (sql) => {
    const closedMs = await waitForHolds(sql)
    const { verdicts, breaks } = compareBooks(calls, await readLedger(sql, since), book)
    const audited = (await audit(sql)).ok
    finish(verdicts, [...breaks, ...verdicts.flatMap(findUnfair)], { closedMs, audited })
  })
}

async function cutAll(): Promise<CutCall[]> {
  const calls: CutCall[] = []
  const waiting = [...laboratory.keys]
  const work = async () => {
    for (let key = waiting.pop(); key; key = waiting.pop()) calls.push(await cutOne(key))
  }
  await Promise.all(Array.from({ length: CONCURRENT }, work))
  return calls
}

async function cutOne(key: CreatedKey): Promise<CutCall> {
  const kind = random.pick<CallKind>(['chat-stream', 'speech'])
  const marker = `d${laboratory.keys.indexOf(key)}`
  const chunks = random.integer(4, 40)
  const pace = `[[chunks:${chunks}]] [[chunk-delay:${random.integer(1, 40)}]]`
  const cut = random.pick(CUTS)
  // A delay before the response head leaves time to disconnect before the first byte.
  const pause = cut === 'before the first byte' ? ` [[fault:delay-head=${LEAVE_MS_MAX}]]` : ''
  const call = describeCall(kind, marker, `[[call:${marker}]] ${pace}${pause}`, random)
  const frames = cut === 'somewhere' ? random.integer(1, chunks) : chunks
  const seen = await hangUp(call, key.key, cut, frames)
  return { ...call, ...seen, cut, keyId: key.id, requestId: undefined, usage: undefined }
}

/** Sends the call and disconnects at its cut; resolves after the disconnect. */
function hangUp(
  call: PlannedCall,
  key: string,
  cut: Cut,
  frames: number,
): Promise<Pick<FinishedCall, 'outcome' | 'status' | 'milliseconds'>> {
  const request = rawRequest(call.path, call.body, { authorization: `Bearer ${key}` })
  const start = performance.now()
  return new Promise((resolve) => {
    let text = ''
    const leave = () => {
      if (random.next() < 0.5) socket.resetAndDestroy()
      else socket.destroy()
    }
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1', () => {
      socket.write(request)
      if (cut === 'before the first byte') setTimeout(leave, random.integer(0, LEAVE_MS_MAX))
    })
    socket.setEncoding('utf8')
    socket.on('data', (data: string) => {
      text += data
      if (shouldLeave(call, cut, frames, text)) leave()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)
      const outcome = status >= 400 ? 'refused' : status === 0 ? 'lost' : 'cut'
      resolve({ status, outcome, milliseconds: performance.now() - start })
    })
  })
}

function shouldLeave(call: PlannedCall, cut: Cut, frames: number, text: string): boolean {
  if (cut === 'before the first byte') return false
  if (cut === 'at the head') return true
  const separator = call.kind === 'speech' ? '"code":0' : '"delta":{"content"'
  const seen = text.split(separator).length - 1
  if (cut === 'somewhere') return seen >= frames
  return call.kind === 'speech' ? seen >= frames : text.includes('"finish_reason":"stop"')
}

/** Requires that output generated for a caller is charged, within a tenth. */
function findUnfair({ call, row, chargedNanos, bookedNanos }: Verdict): string[] {
  const name = `${call.marker} (${call.kind}, ${row?.status}, ${row?.basis})`
  if (bookedNanos > 0n && chargedNanos === 0n) return [`${name}: free`]
  const gap = chargedNanos > bookedNanos ? chargedNanos - bookedNanos : bookedNanos - chargedNanos
  if (gap * 10n <= bookedNanos) return []
  return [`${name}: charged ${chargedNanos}, billed ${bookedNanos}`]
}

function finish(
  verdicts: readonly Verdict[],
  breaks: readonly string[],
  { closedMs, audited }: { readonly closedMs: number; readonly audited: boolean },
): void {
  const ok = breaks.length === 0 && audited
  const cutOf = ({ call }: Verdict) => ('cut' in call ? String(call.cut) : '')
  const sum = (list: readonly Verdict[], read: (verdict: Verdict) => bigint) =>
    formatAmount(list.reduce((total, verdict) => total + read(verdict), 0n))
  const rows = CUTS.map((cut) => {
    const group = verdicts.filter((verdict) => cutOf(verdict) === cut)
    const billed = group.filter(({ bookedNanos }) => bookedNanos > 0n).length
    const charged = group.filter(({ chargedNanos }) => chargedNanos > 0n).length
    const sums = [sum(group, (one) => one.bookedNanos), sum(group, (one) => one.chargedNanos)]
    return [cut, group.length, billed, charged, ...sums]
  })
  const basis: Record<string, number> = {}
  for (const { row } of verdicts) {
    const name = row ? `${row.status}, ${row.basis}` : 'no hold was taken'
    basis[name] = (basis[name] ?? 0) + 1
  }
  report('prove-disconnect', conditions, { ok, seed, streams, basis, closedMs, audited, breaks }, [
    ...table([['cut', 'streams', 'billed', 'charged', 'upstream billed', 'charged'], ...rows]),
    '',
    ...table([['ledger says', 'calls'], ...Object.entries(basis)]),
    '',
    `open holds gone after ${Math.round(closedMs)} ms (allowed: 60 s)`,
    `audit ${audited ? 'clean' : 'NOT CLEAN'}`,
    ...breaks.slice(0, 50),
    ok ? 'None free, none over a tenth off. PASSED' : 'FAILED',
  ])
  if (!ok) process.exitCode = 1
}
