/** Alternates quiet slices and slices under attack, so that a busy machine weighs on both alike. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../testbed/random.ts'
import { type Attack, ROLES } from './attacks/attack.ts'
import type { Tally } from './attacks/play.ts'
import type { Stage } from './stage.ts'

export interface Slice {
  /** The attacks that ran; none in a quiet slice. */
  readonly attacks: readonly string[]
  readonly tallies: Readonly<Record<string, Tally>>
  /** Milliseconds since 1970. */
  readonly from: number
  readonly to: number
}

const QUIET_MS = 10_000
const ATTACK_MS = 20_000
/** Time after an attack that counts for neither slice, in which the effects of the attack end. */
const PAUSE_MS = 3_000

export const ATTACKS_PER_MINUTE = 60_000 / ATTACK_MS

/** Returns a slice for each attack by itself, which tells what it does alone. */
export function playAlone(attacks: readonly Attack[]): readonly (readonly string[])[] {
  return attacks.map(({ name }) => [name])
}

/** Draws the attacks of each slice: one of each role, all of a role before one comes again. */
export function drawAttacks(
  attacks: readonly Attack[],
  slices: number,
  random: Random,
): readonly (readonly string[])[] {
  const decks = ROLES.map((role) => {
    const names = attacks.filter((one) => one.role === role).map(({ name }) => name)
    let deck: string[] = []
    return () => {
      if (deck.length === 0) deck = shuffle(names, random)
      return deck.pop()
    }
  })
  return Array.from({ length: slices }, () => decks.flatMap((draw) => draw() ?? []))
}

function shuffle(names: readonly string[], random: Random): string[] {
  const keyed = names.map((name) => ({ name, key: random.next() }))
  return keyed.sort((a, b) => a.key - b.key).map(({ name }) => name)
}

export async function runSlices(
  stage: Stage,
  drawn: readonly (readonly string[])[],
  onSlice: (slice: Slice, number: number) => void,
): Promise<readonly Slice[]> {
  const slices: Slice[] = []
  for (const [at, attacks] of drawn.entries()) {
    slices.push(await runQuiet())
    const slice = await runAttacked(stage, attacks)
    slices.push(slice)
    onSlice(slice, at + 1)
    if (stage.gateway.hasExited()) break
    await sleep(PAUSE_MS)
  }
  return slices
}

async function runQuiet(): Promise<Slice> {
  const from = Date.now()
  await sleep(QUIET_MS)
  return { attacks: [], tallies: {}, from, to: Date.now() }
}

async function runAttacked(stage: Stage, attacks: readonly string[]): Promise<Slice> {
  const from = Date.now()
  stage.attack(attacks)
  await sleep(ATTACK_MS)
  const tallies = await stage.stopAttack()
  return { attacks, tallies, from, to: Date.now() }
}
