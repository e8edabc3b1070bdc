/**
 * What becomes of submissions whose answer never came? A vendor that takes tasks and does not say
 * so, over and over, one call at a time for each model so that its list can tell them apart:
 * `npm run prove:orphans -- [--calls 200] [--seed N]`.
 */
import { parseArgs } from 'node:util'
import { openPlace } from '../support/laboratory.ts'
import { createRandom } from '../support/random.ts'
import { circumstances, report } from '../support/results.ts'
import { compareBooks } from './books.ts'
import { createUntilKnown, startFleet } from './fleet.ts'
import { startVendor } from './vendor.ts'

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
})
const calls = Number(values.calls)
const seed = Number(values.seed)
const MODEL = 'doubao-seedance-2-0-260128'
const LOST_PERCENT = 50
const ENV = {
  ...{ TASK_SUBMIT_TIMEOUT_MS: '1000', TASK_UNKNOWN_MS: '8000', TASK_LEASE_MS: '2000' },
  ...{ TASK_LOOK_MS_MIN: '100', TASK_LOOK_MS_MAX: '500', LOG_LEVEL: 'silent' },
}

const made = circumstances(`npm run prove:orphans -- --calls ${calls} --seed ${seed}`)
const random = createRandom(seed)
const vendor = await startVendor({ random, msPerSecond: 0.05, lostPercent: LOST_PERCENT })
const place = await openPlace(vendor.url, { shared: true, accounts: 1, keys: 1 })
const fleet = await startFleet(place, 2, ENV, random)
try {
  const told = new Map<string, string>()
  const key = place.keys[0]?.key ?? ''
  const attempts = Array.from({ length: calls }, async (_, index) => {
    const text = `orphan-${index}`
    await new Promise((resolve) => setTimeout(resolve, index * 50))
    const id = await createUntilKnown(fleet, key, MODEL, text, 20_000)
    if (id !== undefined) told.set(text, id)
  })
  await Promise.all(attempts)
  await new Promise((resolve) => setTimeout(resolve, 15_000))
  const books = await place.withDatabase((sql) => compareBooks(sql, told, vendor.taken))
  const { breaks, tasks, succeeded, failed, adopted, writtenOff } = books
  const lines = [
    `${calls} calls, half of whose answers are lost; each is repeated under its Idempotency-Key`,
    `${vendor.taken.size} taken by the vendor for ${tasks} tasks of ours`,
    `${succeeded} succeeded, ${failed} failed, ${adopted} adopted, ${writtenOff} written off`,
    `${breaks.length} breaks of the three books and the audit`,
    ...breaks.slice(0, 20),
  ]
  const figures = { seed, calls, tasks, succeeded, failed, adopted, writtenOff }
  report('prove-orphans', made, { ...figures, breaks: breaks.length }, lines)
  if (breaks.length > 0 || succeeded + failed !== tasks) process.exitCode = 1
} finally {
  await fleet.stop()
  await place.close()
  await vendor.stop()
}
