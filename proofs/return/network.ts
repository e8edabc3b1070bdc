/**
 * A network between gateways and PostgreSQL, as an address on loopback: slow, or silent as one that
 * takes connections and loses what they carry.
 */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { DatabasePlace } from '../../server/base/database/connection/open-client.ts'
import { dialServer, urlOf } from '../../tests/support/database/chosen-postgres.ts'

export interface Network {
  /** DATABASE_URL through this network. */
  readonly url: string
  /** Bytes take so long each way from now on. */
  delay(milliseconds: number): void
  /**
   * Loses all bytes from now on. The returned function ends this for connections that are opened
   * afterwards: the others never hear of it.
   */
  silence(): () => void
  close(): void
}

export async function openNetwork(place: DatabasePlace): Promise<Network> {
  const pairs = new Set<{ isLost: boolean; readonly sockets: readonly Socket[] }>()
  let delayMs = 0
  let isSilent = false

  function carry(from: Socket, to: Socket, isLost: () => boolean): void {
    let lastMs = 0
    const later = (work: () => void) => {
      const now = performance.now()
      // Bytes stay in order when the delay becomes shorter.
      lastMs = Math.max(lastMs, now + delayMs)
      setTimeout(() => isLost() || work(), lastMs - now)
    }
    from.on('data', (bytes: Buffer) => later(() => to.write(bytes)))
    from.on('error', () => undefined)
    from.on('close', () => later(() => to.destroy()))
  }

  const server = createServer((client) => {
    const inner = dialServer(place)
    const pair = { isLost: isSilent, sockets: [client, inner] }
    pairs.add(pair)
    const isLost = () => pair.isLost
    carry(client, inner, isLost)
    carry(inner, client, isLost)
    client.on('close', () => {
      pairs.delete(pair)
      if (pair.isLost) inner.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    url: urlOf(place).replace(/@[^/]+\//, `@127.0.0.1:${port}/`),
    delay(milliseconds) {
      delayMs = milliseconds
    },
    silence() {
      isSilent = true
      for (const pair of pairs) pair.isLost = true
      return () => {
        isSilent = false
      }
    },
    close() {
      server.close()
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy()
    },
  }
}
