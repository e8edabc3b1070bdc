// Vendor callbacks to a URL from the creator of a task: a JSON POST, retried as vendors do.
import { randomBytes } from 'node:crypto'
import { isObject } from '../kernel/checks.ts'
import type { Platform } from '../kernel/platform.ts'
import type { Scenario } from '../kernel/scenario.ts'

export interface CallBack {
  url: string
  body: () => unknown
  scenario: Scenario
  /** Attempts after the first, while no valid response arrives in time. */
  retries: number
}

const LATE_MS = 60_000
/**
 * Vendors give a receiver 3 to 5 s. Here it is as long as a gateway may take on a busy machine: a
 * lost challenge means no callback at all.
 */
const RECEIVER_MS = 60_000

/** Sends in the background; the receiver's response only decides about retries. */
export function callBack(platform: Platform, call: CallBack): void {
  const how = call.scenario.text('callbacks')
  if (how === 'none') return
  const delay = how === 'late' ? LATE_MS * platform.timeScale : 0
  const body = JSON.stringify(call.body())
  const send = () => void attempt(platform, call, body, 0)
  platform.timers.after(delay, send)
  if (how === 'twice') platform.timers.after(delay, send)
}

async function attempt(platform: Platform, call: CallBack, body: string, tried: number) {
  if (await delivered(call.url, body)) return
  if (tried >= call.retries) return
  const pause = 1000 * 2 ** tried * platform.timeScale
  platform.timers.after(pause, () => void attempt(platform, call, body, tried + 1))
}

async function delivered(url: string, body: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(RECEIVER_MS),
    })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}

/** Resolves to true if the receiver echoes a challenge as JSON, as some vendors require. */
export async function passesChallenge(url: string): Promise<boolean> {
  const challenge = randomBytes(16).toString('hex')
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ challenge }),
      redirect: 'manual',
      signal: AbortSignal.timeout(RECEIVER_MS),
    })
    const answer: unknown = await response.json()
    return response.ok && isObject(answer) && answer.challenge === challenge
  } catch {
    return false
  }
}
