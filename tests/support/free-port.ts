/** Ports for servers that have to know theirs before they start. */
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that Linux and macOS give to outgoing connections, so that no connection of a
 * test beside takes the port between this search and the start of its server.
 */
const FIRST = 10_240
const LAST = 32_767

/** A port that was free a moment ago, and that no other test on this machine is given meanwhile. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1)
    if ((await isFree(port)) && (await claim(port))) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  if (!(await isListening(server))) return false
  server.close()
  await once(server, 'close')
  return true
}

/**
 * Holds the datagram port of the same number, which no server here needs, until this process ends:
 * a claim that every other process meets, and that none has to remove.
 */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  socket.bind({ port, address: '127.0.0.1', exclusive: true })
  const isOurs = await isListening(socket)
  if (isOurs) socket.unref()
  return isOurs
}

function isListening(opening: NodeJS.EventEmitter): Promise<boolean> {
  return once(opening, 'listening').then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      return false
    },
  )
}
