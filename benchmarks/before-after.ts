/**
 * Measures the cost of a change on the data path. Two checkouts of this repository serve the same
 * upstream in turns: `node benchmarks/before-after.ts --before FOLDER [--rounds 7] [--seconds 4]
 * [--connections 32] [--body 300]`, the last for an agent's requests of so many kilobytes.
 * The checkout in FOLDER needs its node_modules. Ratios are after / before.
 */

import { join, resolve } from 'node:path'
import { readOptions } from '../testbed/options.ts'
import { median, readConditions, report, round, table } from '../testbed/results.ts'
import { type CallCosts, measureCalls } from './peers/measure-calls.ts'
import { type Peer, startTributary, startUpstream } from './peers/start-peers.ts'

const values = readOptions(import.meta.filename, {
  before: { type: 'string' },
  label: { type: 'string', default: 'before' },
  rounds: { type: 'string', default: '7' },
  seconds: { type: 'string', default: '4' },
  connections: { type: 'string', default: '32' },
  body: { type: 'string', default: '1' },
  name: { type: 'string', default: 'before-after' },
})
if (values.before === undefined) {
  console.error('--before FOLDER is required: a checkout of the commit to compare with')
  process.exit(1)
}
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const kilobytes = Number(values.body)
const connections = Number(values.connections)
const KINDS = [`${kilobytes} KB bodies`, '100-chunk streams'] as const

const conditions = readConditions(
  `node benchmarks/before-after.ts --before CHECKOUT --rounds ${rounds} --seconds ${seconds}` +
    (connections === 32 ? '' : ` --connections ${connections}`) +
    (kilobytes > 1 ? ` --body ${kilobytes}` : ''),
)
const older: { startTributary: typeof startTributary } = await import(
  join(resolve(values.before), 'benchmarks/peers/start-peers.ts')
)
const upstream = await startUpstream()
const before = await older.startTributary(upstream.url)
const after = await startTributary(upstream.url)
const lines: string[] = []
const result: Record<string, object> = {}
try {
  for (const kind of KINDS) await compare(kind)
} finally {
  await Promise.all([before.stop(), after.stop()])
  await upstream.stop(2_000)
}
lines.push(
  `before: ${values.label}. ${connections} connections, ${rounds} rounds of ${seconds} s in turns;`,
  'the gateway on one core, its database, the upstream and the load on the other. Ratios are',
  "medians of each round's after / before; CPU is user and system time each call.",
)
report(values.name, conditions, { before: values.label, rounds, seconds, ...result }, lines)

async function compare(kind: (typeof KINDS)[number]): Promise<void> {
  const measured: { readonly before: CallCosts; readonly after: CallCosts }[] = []
  for (const peer of [before, after]) await measure(peer, kind, 2)
  for (let turn = 0; turn < rounds; turn += 1) {
    const first = await measure(before, kind, seconds)
    const second = await measure(after, kind, seconds)
    measured.push({ before: first, after: second })
    console.log(`${kind}: ${Math.round(first.perSecond)}/s, then ${Math.round(second.perSecond)}/s`)
  }
  const rows = (['perSecond', 'gatewayMicroseconds', 'databaseMicroseconds'] as const).map(
    (figure) => {
      const ratio = median(measured.map((one) => one.after[figure] / one.before[figure]))
      const was = median(measured.map((one) => one.before[figure]))
      const is = median(measured.map((one) => one.after[figure]))
      result[kind] = { ...result[kind], [figure]: { before: was, after: is, ratio } }
      return [figure, Math.round(was), Math.round(is), `${round(ratio)}×`]
    },
  )
  const errors = measured.reduce((sum, one) => sum + one.before.errors + one.after.errors, 0)
  lines.push(
    ...table([[kind, 'before', 'after', 'ratio'], ...rows, ['errors', '', errors, '']]),
    '',
  )
}

function measure(peer: Peer, kind: string, duration: number): Promise<CallCosts> {
  const stream = kind !== KINDS[0]
  return measureCalls(peer, { stream, connections, seconds: duration, kilobytes })
}
