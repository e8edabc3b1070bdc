/**
 * The task of each agent and its expected result: the files on disk, the picture at the upstream,
 * and for every scene the account compared with the simulators' book.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PICTURE } from '../../tests/clients/client.ts'
import type { TestGateway } from '../../tests/support/in-process.ts'
import { BALANCE, compareAccount, sawPicture } from './account.ts'
import type { Agent, Finished } from './agents.ts'
import type { Played } from './played.ts'

interface Plan {
  readonly scene: string
  readonly prompt: (agent: Agent, folder: string) => string
  /** Files that must exist afterwards. */
  readonly files: readonly string[]
  readonly needsPicture?: boolean
  /** The account is empty: the agent must show the reason, and nothing is paid. */
  readonly refused?: boolean
  /** The first answer breaks off: its record is an estimate, and most agents repeat it. */
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
    prompt: (agent) => {
      const says = agent.runsBroken ? '[[say:I run it as I was asked to]] [[chunks:9]]' : ''
      const words = `${says} ${agent.shell('printf proof > one.txt')}`.trim()
      return `[[fault:reset-mid=3;times=1]] ${words} [[call:dies]]`
    },
    files: ['one.txt'],
    breaks: true,
  },
  { scene: 'an error', prompt: () => 'good day', files: [], refused: true },
]

/** Plays every scene with each model of the agent. */
export async function playAgent(gateway: TestGateway, agent: Agent): Promise<Played[]> {
  const played: Played[] = []
  for (const model of agent.models) {
    for (const plan of PLANS) {
      if (plan.needsPicture && !agent.viewPicture) continue
      played.push(await play(gateway, agent, model, plan))
    }
  }
  return played
}

async function play(
  gateway: TestGateway,
  agent: Agent,
  model: string,
  plan: Plan,
): Promise<Played> {
  const balance = plan.refused ? '0' : BALANCE
  const { key, accountId } = await gateway.tenant({ balance })
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
    const givesUp = plan.breaks === true && agent.givesUp === true
    const breaks = judge(done, { plan, place, givesUp })
    if (plan.needsPicture && !sawPicture(gateway, callsSince)) breaks.push('no picture came')
    const recordsMin = plan.refused ? 0 : givesUp ? 1 : plan.breaks ? 3 : 2
    const account = { key, accountId, model, since, balance, recordsMin }
    const money = await compareAccount(gateway, { ...account, breaks: plan.breaks })
    breaks.push(...money.breaks)
    if (breaks.length > 0) console.error(agent.name, model, plan.scene, done.output.slice(-2_000))
    return { client: agent.name, model, scene: plan.scene, ...money, breaks }
  } finally {
    for (const folder of [place, home]) rmSync(folder, { recursive: true, force: true })
  }
}

interface Expected {
  readonly plan: Plan
  readonly place: string
  readonly givesUp: boolean
}

function judge(done: Finished, { plan, place, givesUp }: Expected): string[] {
  if (plan.refused) return judgeFailure(done, /insufficient balance/i)
  if (givesUp) return judgeFailure(done, /upstream provider error/)
  const missing = plan.files.filter((name) => !existsSync(join(place, name)))
  const ended = done.code === 0 ? [] : [`it ended with ${done.code}`]
  return [...missing.map((name) => `${name} is not there`), ...ended]
}

/** Requires that the agent shows the gateway's message. */
const judgeFailure = ({ output }: Finished, message: RegExp) =>
  message.test(output) ? [] : ['it shows no error']
