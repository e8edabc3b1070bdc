/** Measures what a race for a budget overspends, and what a kill loses. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { PATH, requestBody } from '../peers/wrk.ts'
import { BUDGET_CALLS, type Contestant, type Ledger } from './contestant.ts'

const RACING = 100
const CENTS_A_CALL = 100 / BUDGET_CALLS
const CONNECTIONS = 32
const LOAD_MS = 4_000

/** Calls at once on a budget of 1 USD, which pays BUDGET_CALLS of them. */
export interface Race {
  readonly served: number
  readonly overspentCents: number
}

export async function raceForBudget(one: Contestant): Promise<Race | undefined> {
  if (one.budget === undefined) return undefined
  const { headers, model } = one.budget
  const request = { ...JSON.parse(requestBody(false)), model, max_tokens: 100 }
  const body = JSON.stringify(request)
  const agent = new Agent({ connections: RACING })
  const send = () => call(agent, { ...one, headers }, body)
  const answers = await Promise.all(Array.from({ length: RACING }, send))
  await agent.close()
  const served = answers.filter(Boolean).length
  return { served, overspentCents: Math.max(0, served - BUDGET_CALLS) * CENTS_A_CALL }
}

/** Figures of a kill in the middle of calls. */
export interface Killed {
  /** Calls that the vendor bills. */
  readonly billed: number
  /** Those of them whose caller has the whole answer. */
  readonly delivered: number
  readonly charged: number
}

/** Kills all of a gateway's processes under load. `countBilled` asks the upstream. */
export async function killUnderLoad(
  one: Contestant,
  ledger: Ledger,
  countBilled: () => Promise<number>,
): Promise<Killed> {
  const before = { billed: await countBilled(), charged: await ledger.countCharged() }
  const body = requestBody(false)
  const agent = new Agent({ connections: CONNECTIONS })
  let delivered = 0
  let isOver = false
  async function loop() {
    while (!isOver) {
      if (await call(agent, one, body)) delivered += 1
      else await sleep(50)
    }
  }
  const loops = Array.from({ length: CONNECTIONS }, loop)
  await sleep(LOAD_MS)
  const restarted = ledger.killAndRestart()
  isOver = true
  await Promise.all(loops)
  await restarted
  await agent.close()
  const charged = (await ledger.countCharged()) - before.charged
  return { billed: (await countBilled()) - before.billed, delivered, charged }
}

/** Resolves to true for a whole answer of 200. */
async function call(
  agent: Agent,
  { url, headers }: Pick<Contestant, 'url' | 'headers'>,
  body: string,
): Promise<boolean> {
  try {
    const answer = await agent.request({
      origin: url,
      path: PATH,
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
    await answer.body.json()
    return answer.statusCode === 200
  } catch {
    return false
  }
}
