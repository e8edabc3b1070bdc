// Writes bytes to the socket, in the sizes and at the speed of a scenario.
import type { ServerResponse } from 'node:http'
import type { Scenario } from './scenario.ts'
import { nextTurn, sleep } from './sleep.ts'

export class BodyWriter {
  /** True once the scenario has cut the connection. */
  cut = false
  private sent = 0
  private readonly response: ServerResponse
  private readonly scenario: Scenario
  private readonly limit: number
  private readonly dripMs: number
  private readonly pieces: (bytes: Buffer) => Buffer[]

  constructor(
    response: ServerResponse,
    scenario: Scenario,
    options: { limit: number; dripMs: number },
  ) {
    this.response = response
    this.scenario = scenario
    this.limit = options.limit
    this.dripMs = options.dripMs
    this.pieces = splitter(scenario)
  }

  async write(data: string | Buffer): Promise<void> {
    if (this.cut) return
    if (this.scenario.empty) return this.put(data)
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    const room = this.limit - this.sent
    for (const piece of this.pieces(bytes.subarray(0, Math.max(0, room)))) {
      await this.put(piece)
      if (this.dripMs > 0) await sleep(this.dripMs)
      else if (this.scenario.has('split')) await nextTurn()
    }
    this.sent += bytes.length
    if (bytes.length < room) return
    if (Number.isFinite(this.limit)) await this.close()
  }

  /** Ends the connection without ending the body. */
  async close(): Promise<void> {
    this.cut = true
    await this.flushed()
    this.response.socket?.destroySoon()
  }

  /**
   * Resets the connection. A reset overtakes bytes in transit, so they get a moment to arrive
   * first.
   */
  async reset(): Promise<void> {
    this.cut = true
    await this.flushed()
    await sleep(10)
    this.response.socket?.resetAndDestroy()
  }

  private async put(data: string | Buffer): Promise<void> {
    const { response } = this
    if (response.destroyed || response.write(data)) return
    await new Promise<void>((resolve) => {
      const finish = () => {
        response.off('drain', finish)
        response.off('close', finish)
        resolve()
      }
      response.on('drain', finish)
      response.on('close', finish)
    })
  }

  private async flushed(): Promise<void> {
    await nextTurn()
    const { socket } = this.response
    if (!socket || socket.destroyed || socket.writableLength === 0) return
    await new Promise<void>((resolve) => {
      socket.once('drain', resolve)
      socket.once('close', resolve)
      setTimeout(resolve, 50)
    })
  }
}

function splitter(scenario: Scenario): (bytes: Buffer) => Buffer[] {
  if (scenario.has('drip')) {
    const size = scenario.number('drip-bytes') ?? 1
    return (bytes) => everySo(bytes, size)
  }
  if (!scenario.has('split')) return (bytes) => [bytes]
  const how = scenario.text('split') ?? 'bytes'
  if (how === 'utf8') return insideCharacters
  if (how === 'line') return (bytes) => everySo(bytes, Math.max(1, Math.ceil(bytes.length / 2)))
  return (bytes) => everySo(bytes, 1)
}

function everySo(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

/** Cuts after the first byte of every multi-byte UTF-8 sequence. */
function insideCharacters(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  let from = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if ((bytes[at] ?? 0) < 0xc0) continue
    pieces.push(bytes.subarray(from, at + 1))
    from = at + 1
  }
  pieces.push(bytes.subarray(from))
  return pieces.filter((piece) => piece.length > 0)
}
