/**
 * The attackers, in their own process. Plays the attacks whose names it receives until it receives
 * `stop`, and sends the answers to each.
 */
import type { Keys } from './attacks/attack.ts'
import { ATTACKS } from './attacks/index.ts'
import { type Played, play, type Tally } from './attacks/play.ts'

export type ToAttackers = { readonly play: readonly string[] } | { readonly stop: true }
export type FromAttackers = { readonly ready: true } | { readonly tallies: Record<string, Tally> }

export interface AttackersOrder {
  readonly port: number
  readonly keys: Keys
}

function run({ port, keys }: AttackersOrder): void {
  const send = (message: FromAttackers) => process.send?.(message)
  const prepared = new Map(ATTACKS.map((attack) => [attack.name, attack.prepare(keys)]))
  const playing = new Map<string, Played>()
  process.on('message', (message: ToAttackers) => {
    if ('play' in message) {
      for (const { name, manner } of ATTACKS) {
        const bytes = prepared.get(name)
        if (bytes && message.play.includes(name)) playing.set(name, play(port, manner, bytes))
      }
      return
    }
    const tallies = Object.fromEntries([...playing].map(([name, { tally }]) => [name, tally]))
    for (const played of playing.values()) played.stop()
    playing.clear()
    send({ tallies })
  })
  process.on('disconnect', () => process.exit(0))
  send({ ready: true })
}

run(JSON.parse(process.argv[2] ?? '') as AttackersOrder)
