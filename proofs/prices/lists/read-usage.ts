/** Compares the records that a customer reads with the ledger's figures, and the base price. */
import type { Verdict } from '../judge.ts'

/** Every so many calls with stated usage are read. */
const READ_EVERY = 12

/** Returns problems in words. */
export async function judgeUsage(url: string, verdict: Verdict): Promise<string[]> {
  const { observed, row, arrivals, charged } = verdict
  const { testCase, purse, requestId } = observed
  const isTask = testCase.dialect === 'video'
  const isChosen = (isTask || testCase.id % READ_EVERY === 0) && testCase.expected === 'full'
  if (!isChosen || !row || arrivals.length !== 1 || verdict.breaks.length > 0) return []
  const read = async (path: string): Promise<Readonly<Record<string, unknown>>> => {
    const headers = { authorization: `Bearer ${purse.key}` }
    return JSON.parse(await (await fetch(`${url}${path}`, { headers })).text())
  }
  const record = await read(`/v1/usage/${requestId}`)
  const task = isTask ? await read(`${testCase.path}/${JSON.parse(observed.text).id}`) : record
  const base = arrivals[0]?.worth
  return [
    ...(toNanos(record.charged) === charged ? [] : [`its record says ${record.charged}`]),
    ...(toNanos(task.charged) === charged ? [] : [`its task says ${task.charged}`]),
    ...(record.price_list === row.price_list ? [] : [`its record names ${record.price_list}`]),
    ...(toNanos(record.list_amount) === base
      ? []
      : [`its record says ${record.list_amount} at base prices, must be ${base}`]),
  ]
}

function toNanos(amount: unknown): bigint | undefined {
  if (typeof amount !== 'string') return undefined
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}
