/** Opens connections that never finish their request, and measures how long each is tolerated. */
import { connect } from 'node:net'
import type { Random } from '../../../testbed/random.ts'

export interface SlowConnection {
  readonly part: 'head' | 'body'
  /** From the first byte to the close; null if it was still open at the end. */
  readonly closedMs: number | null
}

const DRIP_MS = 3_000

/**
 * Opens `count` connections over a few seconds; resolves when all are closed or after `limitMs`.
 */
export async function holdSlowly(
  url: string,
  key: string,
  count: number,
  limitMs: number,
  random: Random,
): Promise<SlowConnection[]> {
  const connections: Promise<SlowConnection>[] = []
  for (let index = 0; index < count; index += 1) {
    const part = index % 2 === 0 ? 'head' : 'body'
    connections.push(holdOne(url, key, part, limitMs, random.next() < 0.5))
    if (index % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return await Promise.all(connections)
}

function holdOne(
  url: string,
  key: string,
  part: SlowConnection['part'],
  limitMs: number,
  drips: boolean,
): Promise<SlowConnection> {
  const { port } = new URL(url)
  return new Promise((resolve) => {
    let start = performance.now()
    const socket = connect(Number(port), '127.0.0.1', () => {
      start = performance.now()
      socket.write(firstBytes(part, key))
    })
    const drip = drips
      ? setInterval(() => socket.write(part === 'head' ? 'a' : ' '), DRIP_MS)
      : null
    const finish = (closedMs: number | null) => {
      if (drip) clearInterval(drip)
      clearTimeout(timer)
      socket.destroy()
      resolve({ part, closedMs })
    }
    const timer = setTimeout(() => finish(null), limitMs)
    socket.on('data', () => undefined)
    socket.on('error', () => undefined)
    socket.on('close', () => finish(performance.now() - start))
  })
}

function firstBytes(part: SlowConnection['part'], key: string): string {
  const line = 'POST /v1/chat/completions HTTP/1.1'
  const head = `${line}\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\n`
  if (part === 'head') return `${head}x-slow: `
  return `${head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"model":"sim-chat",`
}
