/**
 * The task of each agent and its expected result: the files on disk, the picture at the upstream,
 * and for every scene the account compared with the simulators' book.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAmount } from '../../server/lib/money.ts'
import { priceOf } from '../../testbed/prices.ts'
import { PICTURE } from '../../tests/clients/client.ts'
import { translatingCatalog } from '../../tests/clients/translating-catalog.ts'
import {
  startTestGateway,
  type TestGateway,
  type TestRecord,
} from '../../tests/support/in-process.ts'
import { until } from '../../tests/support/until.ts'
import type { Agent } from './agents.ts'

const BALANCE = '100'
const BALANCE_NANOS = 100_000_000_000n

interface Plan {
  readonly scene: string
  readonly prompt: (agent: Agent, folder: string) => string
  /** Files that must exist afterwards. */
  readonly files: readonly string[]
  readonly needsPicture?: boolean
  /** The first answer breaks off, so the agent retries, and one record is an estimate. */
  readonly breaks?: boolean
}

const PLANS: readonly Plan[] = [
  { scene: 'a tool', prompt: (agent) => agent.shell('printf proof > one.txt'), files: ['one.txt'] },
  {
    scene: 'two tools at once',
    prompt: (agent) =>
      `${agent.shell('printf proof > one.txt')} ${agent.shell('printf proof > two.txt')}`,
    files: ['one.txt', 'two.txt'],
  },
  {
    scene: 'a picture',
    prompt: (agent, folder) => agent.viewPicture?.(join(folder, 'picture.png')) ?? '',
    files: [],
    needsPicture: true,
  },
  {
    scene: 'a stream that dies',
    prompt: (agent) =>
      `[[fault:reset-mid=3;times=1]] ${agent.shell('printf proof > one.txt')} [[call:dies]]`,
    files: ['one.txt'],
    breaks: true,
  },
]

export interface Played {
  readonly agent: string
  readonly model: string
  readonly scene: string
  /** Usage records: one for every request of the agent. */
  readonly records: number
  readonly chargedNanos: string
  readonly bookedNanos: string
  readonly breaks: readonly string[]
}

export async function playAll(agents: readonly Agent[]): Promise<Played[]> {
  const gateway = await startTestGateway()
  try {
    await gateway.apply(translatingCatalog(gateway.simulators.url))
    const played: Played[] = []
    for (const agent of agents) {
      for (const model of agent.models) {
        for (const plan of PLANS) {
          if (plan.needsPicture && !agent.viewPicture) continue
          played.push(await play(gateway, agent, model, plan))
        }
      }
    }
    return played
  } finally {
    await gateway.stop()
  }
}

async function play(
  gateway: TestGateway,
  agent: Agent,
  model: string,
  plan: Plan,
): Promise<Played> {
  const { key, accountId } = await gateway.tenant({ balance: BALANCE })
  const place = mkdtempSync(join(tmpdir(), 'tributary-agent-'))
  const home = mkdtempSync(join(tmpdir(), 'tributary-home-'))
  writeFileSync(join(place, 'picture.png'), Buffer.from(PICTURE, 'base64'))
  const { simulators, url } = gateway
  const since = simulators.book.entries().at(-1)?.sequence ?? 0
  const callsSince = simulators.calls.list().at(-1)?.sequence ?? 0
  const prompt = plan.prompt(agent, place).replace('call:dies', `call:dies-${since}-${model}`)
  try {
    const done = await agent.start({ url, key, model, prompt, folder: place, home })
    await simulators.book.settled()
    const breaks = plan.files
      .filter((name) => !existsSync(join(place, name)))
      .map((name) => `${name} is not there`)
    if (done.code !== 0) breaks.push(`it ended with ${done.code}`)
    if (plan.needsPicture && !sawPicture(gateway, callsSince)) breaks.push('no picture came')
    const money = await compare(gateway, { key, accountId, model, since, loose: plan.breaks })
    breaks.push(...money.breaks)
    if (breaks.length > 0) console.error(agent.name, model, plan.scene, done.output.slice(-2_000))
    const { records, chargedNanos, bookedNanos } = money
    return {
      agent: agent.name,
      model,
      scene: plan.scene,
      records,
      chargedNanos,
      bookedNanos,
      breaks,
    }
  } finally {
    for (const folder of [place, home]) rmSync(folder, { recursive: true, force: true })
  }
}

function sawPicture({ simulators }: TestGateway, since: number): boolean {
  return simulators.calls
    .list(since)
    .some((call) => Buffer.from(call.body_base64, 'base64').includes('iVBORw0KGgo'))
}

interface Judged {
  readonly key: string
  readonly accountId: string
  readonly model: string
  readonly since: number
  readonly loose: boolean | undefined
}

/** Requires that every finished record equals one bill; only a broken stream may be estimated. */
async function compare(gateway: TestGateway, { key, accountId, model, since, loose }: Judged) {
  const { available, debt } = await until('the holds to be settled', async () => {
    const balance = await gateway.balance(accountId)
    return balance.held === 0n ? balance : undefined
  })
  const charged = BALANCE_NANOS - available + debt
  const entries = gateway.simulators.book.entries({ since }).filter((entry) => entry.billed)
  const priced = model === 'translated' ? 'sim-chat' : model
  const bills = entries.map((entry) => priceOf(priced, entry.units))
  const booked = bills.reduce((sum, bill) => sum + bill, 0n)
  const records: TestRecord[] = (await gateway.get('/v1/usage', key)).json.data
  const breaks: string[] = []
  for (const record of records.filter(({ status }) => status === 'succeeded')) {
    const at = bills.indexOf(parseAmount(record.charged) ?? -1n)
    if (at < 0 || record.basis !== 'usage') breaks.push(`no bill of ${record.charged}`)
    else bills.splice(at, 1)
  }
  const died = loose ? 1 : 0
  if (bills.length !== died) breaks.push(`${bills.length} bills are without a finished record`)
  if (records.length !== entries.length) {
    breaks.push(`${records.length} records, ${entries.length} bills`)
  }
  if (!loose && charged !== booked) breaks.push(`charged ${charged}, billed ${booked}`)
  if (loose && records.length < 3) breaks.push('the repeated request has no record of its own')
  return {
    records: records.length,
    chargedNanos: String(charged),
    bookedNanos: String(booked),
    breaks,
  }
}
