/** Ports for servers that have to know theirs before they start. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that Linux and macOS give to outgoing connections, so that no connection of a
 * test beside takes the port between this search and the start of its server.
 */
const FIRST = 10_240
const LAST = 32_767
/** The processes of a run that are beside each other have different numbers, and share no port. */
const PROCESSES_MAX = 16
const OWN = Number(process.env.NODE_TEST_WORKER_ID ?? 0) % PROCESSES_MAX

const given = new Set<number>()

/** A port that was free a moment ago, and that no other test of the run is given. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = FIRST + randomInt((LAST + 1 - FIRST) / PROCESSES_MAX) * PROCESSES_MAX + OWN
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  const free = await once(server, 'listening').then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      return false
    },
  )
  if (!free) return false
  server.close()
  await once(server, 'close')
  return true
}
